// A plain reverse proxy that hands requests and sockets through unchanged. It can
// cut sockets, refuse new ones and count them, as networks do.

import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';

export class Proxy {
  /** Sockets that were opened through the proxy so far. */
  opened = 0;
  /** True: new sockets are refused. */
  refusing = false;
  /** Called with each request before it is handed on; true: it was answered. */
  intercept = () => false;
  #sockets = new Set();

  static async start(target) {
    const proxy = new Proxy();
    proxy.target = new URL(target);
    proxy.server = createServer((req, res) => proxy.#forward(req, res));
    proxy.server.on('upgrade', (req, socket, head) => proxy.#upgrade(req, socket, head));
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    proxy.origin = `http://127.0.0.1:${proxy.server.address().port}`;
    return proxy;
  }

  /** How many sockets are open now. */
  get open() { return this.#sockets.size; }

  /** Cuts every open socket without a closing frame. */
  drop() {
    for (const socket of this.#sockets) socket.destroy();
  }

  close() {
    this.drop();
    this.server.closeAllConnections();
    this.server.close();
  }

  #forward(req, res) {
    if (this.intercept(req, res)) return;
    const { hostname, port } = this.target;
    const onward = request({ hostname, port, method: req.method, path: req.url, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    onward.on('error', () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
    req.pipe(onward);
  }

  #upgrade(req, socket, head) {
    if (this.refusing) return socket.destroy();
    this.opened += 1;
    this.#sockets.add(socket);
    const onward = connect(Number(this.target.port), this.target.hostname, () => {
      const headers = [];
      for (let i = 0; i < req.rawHeaders.length; i += 2) headers.push(`${req.rawHeaders[i]}: ${req.rawHeaders[i + 1]}`);
      onward.write(`${req.method} ${req.url} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    const end = () => {
      this.#sockets.delete(socket);
      socket.destroy();
      onward.destroy();
    };
    for (const side of [socket, onward]) side.on('error', end).on('close', end);
  }
}
