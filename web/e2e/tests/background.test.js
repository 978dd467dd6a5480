// Commands in the background: moved there while they run, or started so; they go on after their turn, in every tab.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, runs, says } from '../harness/provider.js';
import { eventually } from '../harness/eventually.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';

const it = suite();

const ticking = 'for i in $(seq 1 900); do echo tick $i; sleep 0.1; done';

/** The number of the last tick that a card shows. */
async function tick(chat) {
  const text = await chat.live.first().innerText();
  return Number(text.trim().split('\n').at(-1)?.match(/^tick (\d+)$/)?.[1] ?? 0);
}

/** Waits until a card shows more than so many ticks, all of them once and in order. */
async function ticksOn(chat, from) {
  await eventually(async () => await tick(chat) > from, () => `no tick after ${from}`);
  const lines = (await chat.live.first().innerText()).trim().split('\n');
  const first = Number(lines[0].match(/^tick (\d+)$/)?.[1]);
  assert.deepEqual(lines, lines.map((_, i) => `tick ${first + i}`), 'the live output has neither gaps nor repeats');
}

const state = (chat, wanted) => chat.card.and(chat.page.locator(`[data-state=${wanted}]`)).waitFor();

it('a running command moves to the background, and its turn ends there', async ({ chat, provider }) => {
  provider.on('build it', calls(['run_command', { command: ticking }]), says('This is never asked for.'));
  provider.on('hello meanwhile', says('Hello.'));
  const c = await chat();
  await c.open();
  await c.say('build it');
  await c.live.getByText('tick 3').first().waitFor();
  await accessible(c.page, 'a command in the background');
  await c.card.getByTestId('tool-background').click();
  await c.settled();
  await state(c, 'background');
  const note = c.answer.getByTestId('turn-background');
  assert.match(await note.innerText(), /for i in .* goes on in the background/);
  assert.equal(await c.page.getByTestId('tool-background').count(), 0, 'it cannot be moved again');
  assert.equal(await c.page.getByTestId('tool-stop').count(), 1);
  const list = c.page.getByTestId('background-list');
  await list.getByText(/In the background:/).first().waitFor();
  assert.match(await list.innerText(), /In the background: for i in/);
  await ticksOn(c, await tick(c));
  await accessible(c.page, 'a command in the background');

  const other = await chat({ beside: c.page });
  await other.open(c.sessionID);
  await state(other, 'background');
  await ticksOn(other, await tick(other));
  await c.page.reload();
  await state(c, 'background');
  await ticksOn(c, await tick(c));

  await c.ask('hello meanwhile');
  await c.shows('Hello.');
  assert.equal(await c.cards.first().getAttribute('data-state'), 'background');

  await c.page.getByTestId('tool-stop').click();
  for (const page of [c, other]) {
    await page.cards.first().and(page.page.locator('[data-state=stopped]')).waitFor();
    await page.page.getByTestId('turn-background').getByText('It was stopped since.').waitFor();
    assert.equal(await page.page.getByTestId('tool-stop').count(), 0);
    await page.page.getByTestId('background-list').waitFor({ state: 'hidden' });
  }
  const pager = await c.openPager(c.cards.first());
  await pager.turn(() => pager.first.click()); // it opens behind what the model saw
  assert.ok((await pager.content()).startsWith('tick 1\ntick 2\ntick 3\n'));
  await accessible(c.page, 'a command in the background');
});

it('a command that was started in the background ends by itself, after its turn', async ({ chat, provider }) => {
  provider.on('start it', ...runs('echo at the start; sleep 4; echo at the end; exit 4', 'It runs.', { background: true }));
  const c = await chat({ width: 390 });
  await c.open();
  await c.ask('start it');
  await state(c, 'background');
  await noSidewaysScroll(c.page, 'a command in the background');
  assert.equal(await c.page.getByTestId('turn-background').count(), 0, 'its turn did not end with it');
  await c.live.getByText('at the start').first().waitFor();
  await state(c, 'error');
  assert.match(await c.card.innerText(), /exit 4/);
  const pager = await c.openPager();
  assert.equal(await pager.content(), 'at the start\nat the end\n');
});

it('a command whose turn is no longer shown is still listed, and stopped', async ({ chat, provider, app }) => {
  provider.on('try it', ...runs(ticking, 'It runs.', { background: true }), says('Another answer.'));
  const c = await chat();
  let [pieces, reads] = [0, 0];
  c.page.on('websocket', (socket) => socket.on('framereceived', ({ payload }) => { if (JSON.parse(payload.toString()).t === 'output') pieces += 1; }));
  c.page.on('request', (request) => { if (/\/log$/.test(request.url())) reads += 1; });
  await c.open();
  await c.ask('try it');
  await app.api('POST', `/turns/${await c.answer.getAttribute('data-turn')}/retry`);
  await c.shows('Another answer.');
  await c.settled();
  assert.equal(await c.cards.count(), 0, 'the card is of the version before');
  const list = c.page.getByTestId('background-list');
  const told = (more, from = pieces) => eventually(() => pieces >= from + more, 'what it prints is told no more');
  await told(10); // what is not here is looked for once
  reads = 0;
  await told(20);
  assert.equal(reads, 0, 'the conversation is read again and again');
  await list.getByTestId('background-stop').click();
  await eventually(() => list.isHidden(), 'the stopped command is still listed');
});

it('a command in the background is stopped from a page without scripts', async ({ chat, visit, provider, app }) => {
  provider.on('serve it', ...runs(ticking, 'It runs.', { background: true }));
  const c = await chat();
  await c.open();
  await c.ask('serve it');
  const page = await visit({ javaScriptEnabled: false });
  await page.goto(`${app.origin}/s/${c.sessionID}`);
  assert.equal(await page.getByTestId('tool-card').getAttribute('data-state'), 'background');
  await page.getByTestId('tool-stop').click();
  await state(c, 'stopped');
});
