// A scripted model behind an OpenAI-compatible endpoint. A test says what is to be
// answered to a message that holds a certain text; everything else about the
// exchange is real: HTTP, server-sent events, tool calls in fragments, usage.

import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** A door that a scripted reply waits at until the test opens it. */
export function gate() {
  let open;
  const opened = new Promise((resolve) => { open = resolve; });
  return { opened, open };
}

/**
 * A reply of text. Options: `chunks` (the text as it is to arrive; default: one
 * chunk), `delay` in ms between chunks, or after each `burst` of them, `hold: {after, gate}` waits at the gate
 * once `after` chunks are out, `cut` closes the connection without an end,
 * `finish` is the finish_reason (default stop), `reasoning` comes first.
 */
export function says(text, options = {}) {
  return { chunks: [text], ...options };
}

/** A reply that calls tools; each call is [name, arguments] or {id, name, arguments}. */
export function calls(...list) {
  return {
    calls: list.map((call) => (Array.isArray(call) ? { name: call[0], arguments: call[1] } : call)),
    finish: 'tool_calls',
  };
}

/** The usual round: run one command, then say a closing sentence. */
export function runs(command, closing = 'That is done.', args = {}) {
  return [calls(['run_command', { command, ...args }]), says(closing)];
}

/** The shell's part of a command that waits until the test lets it go on. */
export const untilLet = 'until [ -e go ]; do sleep 0.1; done';

/** A reply that is an HTTP error. */
export function fails(status, message, headers = {}) {
  return { status, headers, body: { error: { message, type: 'error', code: null } } };
}

/** The numbers from..to, one to a chunk, with a space between them. */
export function numbers(from, to) {
  return Array.from({ length: to - from + 1 }, (_, i) => (i ? ' ' : '') + (from + i));
}

export class Provider {
  /** Every request's body, in order of arrival. */
  requests = [];
  /** How many replies a client gave up on before their end. */
  abandoned = 0;
  #scripts = [];
  #serial = 0;

  static async start() {
    const provider = new Provider();
    provider.server = createServer((req, res) => provider.#serve(req, res).catch(() => res.destroy()));
    provider.server.listen(0, '127.0.0.1');
    await once(provider.server, 'listening');
    provider.baseURL = `http://127.0.0.1:${provider.server.address().port}/v1`;
    return provider;
  }

  /** Answers messages that hold `key` with these replies in turn; the last one repeats. */
  on(key, ...replies) {
    this.#scripts.unshift({ key, replies: replies.flat(), next: 0 });
  }

  /** The bodies of the requests whose latest matching user message holds `key`. */
  sent(key) {
    return this.requests.filter((body) => body.messages.some((m) => m.role === 'user' && textOf(m).includes(key)));
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }

  #reply(body) {
    const said = body.messages.filter((m) => m.role === 'user').reverse();
    for (const message of said) {
      const script = this.#scripts.find(({ key }) => textOf(message).includes(key));
      if (!script) continue; // a hidden message: look at the one before it
      const reply = script.replies[Math.min(script.next, script.replies.length - 1)];
      script.next += 1;
      return reply;
    }
    return says('There is no script for this message.');
  }

  async #serve(req, res) {
    let raw = '';
    for await (const piece of req) raw += piece;
    if (!req.url.endsWith('/chat/completions')) {
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[{"id":"scripted","object":"model"}]}');
      return;
    }
    const body = JSON.parse(raw);
    this.requests.push(body);
    const reply = this.#reply(body);
    if (reply.status) {
      res.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(JSON.stringify(reply.body));
      return;
    }
    res.on('close', () => { if (!res.writableEnded && !reply.cut) this.abandoned += 1; });
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    await this.#stream(res, reply, body.stream_options?.include_usage);
  }

  async #stream(res, reply, usage) {
    const event = (choice, extra = {}) => res.write(`data: ${JSON.stringify({
      id: 'chatcmpl-e2e', object: 'chat.completion.chunk', created: 1, model: 'scripted',
      choices: choice ? [{ index: 0, finish_reason: null, ...choice }] : [], ...extra,
    })}\n\n`);
    event({ delta: { role: 'assistant', content: '' } });
    if (reply.reasoning) event({ delta: { reasoning_content: reply.reasoning } });
    for (const [i, text] of (reply.chunks ?? []).entries()) {
      if (reply.hold?.after === i) await reply.hold.gate.opened;
      if (res.destroyed) return;
      event({ delta: { content: text } });
      if (reply.delay && (i + 1) % (reply.burst ?? 1) === 0) await sleep(reply.delay);
    }
    if (reply.hold && reply.hold.after >= (reply.chunks?.length ?? 0)) await reply.hold.gate.opened;
    if (reply.cut) return void setTimeout(() => res.destroy(), 100); // what was written is sent first
    for (const [index, call] of (reply.calls ?? []).entries()) this.#call(event, index, call);
    event({ delta: {}, finish_reason: reply.finish ?? 'stop' });
    if (usage) event(null, { usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } });
    res.end('data: [DONE]\n\n');
  }

  /** A call as providers send it: the name first, the arguments in two pieces. */
  #call(event, index, call) {
    const args = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
    const half = Math.floor(args.length / 2);
    this.#serial += 1;
    const id = call.id ?? `call_e2e_${this.#serial}`;
    event({ delta: { tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }] } });
    for (const piece of [args.slice(0, half), args.slice(half)]) {
      event({ delta: { tool_calls: [{ index, function: { arguments: piece } }] } });
    }
  }
}

function textOf(message) {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? []).map((part) => part.text ?? '').join('');
}
