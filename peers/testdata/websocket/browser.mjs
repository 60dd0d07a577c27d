// The WebSocket of web pages, as Node.js has it (undici).
const socket = new WebSocket(process.argv[2])
socket.onopen = () => socket.send('Hello')
socket.onmessage = ({ data }) => { console.log('message', data); socket.close(1000) }
socket.onclose = ({ code, wasClean }) => { console.log('closed', code, wasClean) }
