// What a crash or a restart of the server leaves.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, gate, numbers, says } from '../harness/provider.js';
import { eventually } from '../harness/eventually.js';

const it = suite();
const hundred = numbers(1, 100);
const offline = [/WebSocket|htmx:ws:error/i, /ERR_CONNECTION/, /Failed to load resource/];

it('a kill in mid-answer keeps the text, says so, and the next message works', async ({ app, chat, provider }) => {
  provider.on('count until killed', says('', { chunks: hundred, hold: { after: 50, gate: gate() } }));
  provider.on('go on please', says('Here I am again.'));
  const c = await chat();
  await c.open();
  await c.say('count until killed');
  const half = hundred.slice(0, 50).join('');
  await c.shows(half, { exactly: true });
  await app.kill();
  await app.launch();
  await c.page.reload();
  assert.equal(await c.answer.getAttribute('data-state'), 'interrupted');
  assert.equal(await c.text(), half);
  await c.ask('go on please');
  assert.equal(await c.text(), 'Here I am again.');
  const sent = provider.sent('go on please').at(-1).messages;
  assert.ok(sent.some((m) => m.role === 'assistant' && m.content.includes(half)), 'the next request lost what was shown');
}, { allow: offline });

it('a page that was open through a crash comes back by itself', async ({ app, chat, provider }) => {
  provider.on('count and come back', says('', { chunks: hundred, hold: { after: 50, gate: gate() } }));
  const c = await chat();
  await c.open();
  await c.say('count and come back');
  await c.shows(' 50');
  await app.kill();
  await app.launch();
  await c.settled('interrupted');
  assert.equal(await c.text(), hundred.slice(0, 50).join(''));
  await c.send.waitFor();
}, { allow: offline });

it('a kill in mid-command keeps what was printed, and the card does not run for ever', async ({ app, chat, provider }) => {
  provider.on('print until killed', calls(['run_command', { command: 'for i in $(seq 1 2000); do echo printed line $i; done; sleep 60' }]), says('Never said.'));
  provider.on('after the crash', says('Going on.'));
  const c = await chat();
  await c.open();
  await c.say('print until killed');
  await c.live.getByText('printed line 2000').first().waitFor();
  const printed = Array.from({ length: 2000 }, (_, i) => `printed line ${i + 1}\n`).join('').length;
  await eventually(async () => (await app.outputs(c.sessionID))[0]?.total_bytes === printed, 'what it printed is not written while it runs', 2200); // each second
  await app.kill();
  await app.launch();
  await c.page.reload();
  assert.equal(await c.card.getAttribute('data-state'), 'interrupted');
  const [output] = await app.outputs(c.sessionID);
  assert.ok(output, 'nothing was kept');
  assert.equal(output.running, false);
  assert.equal(output.complete, false);
  const copy = await app.copy(c.sessionID, output.id);
  assert.ok(copy.includes('printed line 1\n') && copy.includes('printed line 2000\n'), copy.slice(-200));
  const pager = await c.openPager();
  assert.match(await pager.content(), /^printed line 1\n/);
  await c.ask('after the crash');
  assert.equal(await c.text(), 'Going on.');
}, { allow: offline });

it('an orderly restart is ridden out: the page connects again and the session goes on', async ({ app, chat, provider }) => {
  provider.on('before the restart', says('Before.'));
  provider.on('after the restart', says('After.'));
  const c = await chat();
  await c.open();
  await c.ask('before the restart');
  const sockets = [];
  c.page.on('websocket', (ws) => sockets.push(ws));
  await app.terminate();
  await app.launch();
  await eventually(() => sockets.some((ws) => !ws.isClosed()), 'the page did not connect again');
  await c.ask('after the restart');
  assert.equal(await c.text(), 'After.');
}, { allow: offline });

it('an orderly end while a turn runs leaves no turn running', async ({ app, chat, provider }) => {
  provider.on('count into the end', says('', { chunks: hundred, hold: { after: 50, gate: gate() } }));
  const c = await chat();
  await c.open();
  await c.say('count into the end');
  await c.shows(' 50');
  const began = Date.now();
  await app.terminate();
  assert.ok(Date.now() - began < 40000, 'the end took more than 40 s');
  await app.launch();
  await c.page.reload();
  assert.equal(await c.answer.getAttribute('data-state'), 'interrupted');
  assert.equal(await c.text(), hundred.slice(0, 50).join(''));
}, { allow: offline });
