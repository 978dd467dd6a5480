// How full the model's window is, and where a summary stands for old turns.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, gate, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';

const it = suite({ env: { OFFCUT_MODEL_CONTEXT_TOKENS: '16000' } });

const long = (n) => `remember part ${n}: ${'word '.repeat(1600)}`;
const spoken = (locator) => locator.evaluate((node) => node.textContent.replace(/\s+/g, ' ').trim());

it('the meter tells what is used of the window, live and after a reload', async ({ chat, provider }) => {
  const rest = gate();
  provider.on('measure it', calls(['run_command', { command: 'echo one' }]), says('', { chunks: ['Now', ' then.'], hold: { after: 1, gate: rest } }));
  const c = await chat();
  await c.open();
  const meter = c.page.getByTestId('meter');
  assert.equal(await meter.count(), 0, 'a chat without a session has a meter');
  await c.say('measure it');
  await meter.waitFor(); // after the first reply, while the turn runs
  assert.equal(await c.answer.getAttribute('data-state'), 'running');
  rest.open();
  await c.settled();
  for (const when of ['streamed', 'loaded']) {
    assert.equal(await spoken(meter), '120 of 16k tokens of context used', when);
    assert.equal(await meter.getAttribute('title'), '120 of the 16,000 tokens of the model’s context window', when);
    assert.equal(await meter.locator('.v').getAttribute('stroke-dasharray'), '1 100', when);
    await c.page.reload();
  }
  await c.page.setViewportSize({ width: 360, height: 720 });
  assert.equal(await meter.innerText().then((text) => text.replace(/\s+/g, ' ').trim()), '120 tokens of context used');
  await accessible(c.page, 'a chat with its meter');
  await noSidewaysScroll(c.page, 'a chat with its meter');
});

it('before anything was used there is no meter', async ({ app, chat, provider }) => {
  const never = gate();
  provider.on('wait for it', says('', { chunks: ['x'], hold: { after: 0, gate: never } }));
  const c = await chat();
  await c.open();
  await c.say('wait for it');
  await c.answers.first().waitFor();
  assert.equal(await c.page.getByTestId('meter').isVisible(), false);
  never.open();
  await c.settled();
  assert.equal((await app.messages(c.sessionID)).length, 2);
});

it('a mark shows up to where a summary stands; the conversation stays whole', async ({ chat, provider }) => {
  provider.on('remember part', says('Noted.'));
  provider.on('Messages:\n{', says('They gave parts to remember.'));
  const c = await chat();
  await c.open();
  const mark = c.page.getByTestId('fold-mark');
  let said = 0;
  while (await mark.count() === 0) {
    said += 1;
    assert.ok(said < 12, 'nothing was summarised');
    await c.ask(long(said));
  }
  const streamed = await spoken(mark);
  assert.match(streamed, /^The model was given a summary of the \d+ messages above\. Here they stay whole\.$/);
  for (const when of ['streamed', 'loaded']) {
    assert.equal(await spoken(mark), streamed, when);
    assert.equal(await c.questions.count(), said, when);
    const [above, below] = await mark.evaluate((node) => {
      const all = [...document.querySelectorAll('[data-testid=message]')];
      const before = all.filter((m) => m.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
      return [before.length, all[before.length].dataset.role];
    });
    assert.equal(above, Number(streamed.match(/\d+/)[0]), when);
    assert.equal(below, 'user', when);
    assert.ok(!(await c.page.content()).includes('They gave parts'), `the summary is in the page, ${when}`);
    await c.page.reload();
  }
  await accessible(c.page, 'a conversation with a summary');
  await c.page.setViewportSize({ width: 360, height: 720 });
  await noSidewaysScroll(c.page, 'a conversation with a summary');
});
