// The program under test as a process of its own, on a fresh data folder and a
// free loopback port, so that it can be killed and started again.

import { spawn, execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';

const run = promisify(execFile);

/** The program: OFFCUT_BIN, or what `make build` leaves. */
export const binary = resolve(process.env.OFFCUT_BIN ?? new URL('../../../bin/offcut', import.meta.url).pathname);

/** The first admin's API token and sign-in secret in every test. */
export const adminToken = 'e2e-admin-token-0123456789abcdef';

export const password = 'correct horse battery';

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

export class Offcut {
  log = '';

  /**
   * Starts the program. `provider` is a scripted model; without one the demo
   * model answers. `env` adds to or replaces the variables.
   */
  static async start({ provider, env = {}, basePath = '' } = {}) {
    if (!existsSync(binary)) throw new Error(`${binary} is missing: run "make build" first`);
    const offcut = new Offcut();
    offcut.basePath = basePath;
    offcut.port = await freePort();
    offcut.dataDir = await mkdtemp(join(tmpdir(), 'offcut-e2e-'));
    offcut.origin = `http://127.0.0.1:${offcut.port}`;
    offcut.url = offcut.origin + basePath;
    offcut.env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: offcut.dataDir, // dumps of refused requests go with it
      OFFCUT_SANDBOX: process.env.OFFCUT_SANDBOX ?? 'auto',
      OFFCUT_ADDR: `127.0.0.1:${offcut.port}`,
      OFFCUT_DATA_DIR: join(offcut.dataDir, 'data'),
      OFFCUT_BASE_PATH: basePath,
      OFFCUT_ADMIN_TOKEN: adminToken,
      ...(provider && { OPENAI_BASE_URL: provider.baseURL, OPENAI_API_KEY: 'e2e-key', OFFCUT_MODEL: 'scripted' }),
      ...env,
    };
    await offcut.launch();
    return offcut;
  }

  /** Starts the process on the same data folder and waits until it is ready. */
  async launch() {
    const child = spawn(binary, ['serve'], { env: this.env, cwd: this.dataDir, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    this.exited = once(child, 'exit');
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => { this.log += text; });
    }
    for (let tries = 0; tries < 400; tries += 1) {
      if (child.exitCode !== null) break;
      const ready = await fetch(`${this.url}/readyz`).catch(() => null);
      if (ready?.ok) return;
      await sleep(25);
    }
    child.kill('SIGKILL');
    throw new Error(`offcut did not become ready:\n${this.log}`);
  }

  /** kill -9: nothing is written, nothing is said. */
  async kill() {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  /** The orderly end, as a service manager asks for it. */
  async terminate() {
    this.child.kill('SIGTERM');
    await this.exited;
  }

  async close() {
    await this.kill();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** Runs a subcommand on the same data folder and returns what it printed. */
  async command(...args) {
    const { stdout } = await run(binary, args, { env: this.env, cwd: this.dataDir });
    return stdout.trim();
  }

  async addUser(name, role = 'user') {
    await this.command('user', 'add', name, '--role', role, '--password', password);
  }

  /** A new API token of a user. */
  async token(name) {
    const printed = await this.command('token', 'create', '--user', name);
    return printed.split(/\s+/).at(-1);
  }

  /** A call of the JSON API; throws where the answer is no success. */
  async api(method, path, body, token = adminToken) {
    const answer = await this.request(method, path, body, token);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 500)}`);
    return text ? JSON.parse(text) : null;
  }

  request(method, path, body, token = adminToken) {
    return fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    });
  }

  /** A new session; with `content`, one whose first turn has come to its end. */
  async session(content, token = adminToken) {
    const session = await this.api('POST', '/sessions', {}, token);
    if (content) await this.say(session.id, content, token);
    return session;
  }

  /** Sends a message and waits until its turn has come to its end. */
  async say(sessionID, content, token = adminToken) {
    const { turn_id: id } = await this.api('POST', `/sessions/${sessionID}/messages`, { content }, token);
    return this.settled(id, token);
  }

  async settled(turnID, token = adminToken) {
    for (let tries = 0; tries < 20; tries += 1) {
      const turn = await this.api('GET', `/turns/${turnID}?wait=10`, undefined, token);
      if (!['queued', 'running', 'awaiting_approval'].includes(turn.state)) return turn;
    }
    throw new Error(`turn ${turnID} does not come to its end`);
  }

  async messages(sessionID, query = '') {
    return (await this.api('GET', `/sessions/${sessionID}/messages?limit=200${query}`)).items;
  }

  async outputs(sessionID) {
    return (await this.api('GET', `/sessions/${sessionID}/outputs`)).items;
  }

  /** Lets a command of the session go on that waits for it: see `untilLet`. */
  async letGo(sessionID) {
    const answer = await this.request('PUT', `/sessions/${sessionID}/files/go`);
    if (!answer.ok) throw new Error(`the file for the command: ${answer.status}`);
  }

  /** The whole kept copy, read page by page over the API. */
  async copy(sessionID, outputID) {
    let text = '';
    for (let offset = 0, more = true; more;) {
      const page = await this.api('GET', `/sessions/${sessionID}/outputs/${outputID}?offset=${offset}&limit=4096`);
      text += page.text;
      offset = page.nextOffset;
      more = page.hasMore;
    }
    return text;
  }
}
