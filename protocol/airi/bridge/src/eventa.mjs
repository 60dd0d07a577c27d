// Eventa, as the reference host of March 2026 pins it: what a plugin gets that
// imports @moeru/eventa and has no copy of its own.
export * from '@moeru/eventa'
