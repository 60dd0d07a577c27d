// The library ws at either end, told what to do by its arguments.
import { WebSocket, WebSocketServer } from 'ws'

const [what, url, origin] = process.argv.slice(2)
const ends = socket => socket.on('close', (code, reason) => { console.log('closed', code, String(reason)); process.exit(0) })

if (what === 'server') {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => console.log(server.address().port))
  server.on('connection', (socket) => {
    ends(socket)
    socket.on('message', (data, binary) => {
      if (String(data) === 'close')
        return socket.close(4000, 'as asked')
      socket.send(data, { binary })
    })
    socket.ping('alive?')
    socket.on('pong', data => socket.send(`pong ${data}`))
  })
}
else {
  const socket = new WebSocket(url, origin ? { origin } : {})
  socket.on('unexpected-response', (_, answer) => { console.log('refused', answer.statusCode); process.exit(0) })
  ends(socket)
  socket.on('open', () => {
    socket.send('Hel', { fin: false })
    socket.ping('amid')
    socket.send('lo', { fin: true })
  })
  socket.on('pong', data => console.log('pong', String(data)))
  socket.on('message', (data) => {
    console.log('message', String(data))
    if (what === 'flood')
      socket.send('x'.repeat(1 << 20))
  })
}
