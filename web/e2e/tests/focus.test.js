// Where the focus is after what somebody did by keyboard, and what a screen reader
// is told of an answer.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { gate, runs, says } from '../harness/provider.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

/** What has the focus, by its hook or id. */
const focusedOn = (page) => page.evaluate(() => {
  const node = document.activeElement;
  return node === document.body ? 'nothing' : node.dataset.testid ?? node.id;
});

it('after the first message of a new chat the focus is in the box', async ({ provider, chat }) => {
  provider.on('the very first', says('Welcome.'));
  for (const options of [{}, { hasTouch: true, isMobile: true }]) {
    const c = await chat(options);
    await c.open();
    await c.box.focus();
    await c.say('the very first');
    await c.settled();
    await eventually(async () => await focusedOn(c.page) === 'composer-text', async () => `the focus is on ${await focusedOn(c.page)}`);
  }
});

it('who opens the pages of an output by keyboard is in them', async ({ app, provider, chat }) => {
  provider.on('a long output', ...runs('seq 1 20000'));
  const session = await app.session('a long output');
  const c = await chat();
  await c.open(session.id);
  await c.unfold();
  await c.card.getByTestId('output-open').press('Enter');
  await c.card.getByTestId('output-text').waitFor();
  await eventually(async () => await focusedOn(c.page) === 'output-text', async () => `the focus is on ${await focusedOn(c.page)}`);
});

it('an answer is told once, at its end, and not word by word', async ({ provider, chat }) => {
  const middle = gate();
  provider.on('tell me slowly', says('', { chunks: ['One two ', 'three.'], hold: { after: 1, gate: middle } }));
  const c = await chat();
  await c.open();
  await c.say('tell me slowly');
  await c.shows('One two');
  const live = '[aria-live]:not([aria-live=off]), [role=status], [role=alert], [role=log]:not([aria-live=off])';
  assert.equal(await c.answer.evaluate((node, selector) => Boolean(node.closest(selector) || node.querySelector('.prose')?.closest(selector)), live), false,
    'the streaming text is inside a live region');
  await c.page.evaluate((selector) => {
    globalThis.heard = [];
    const watch = (node) => new MutationObserver(() => { if (node.textContent.trim()) globalThis.heard.push(node.textContent.trim()); })
      .observe(node, { childList: true, characterData: true, subtree: true });
    document.querySelectorAll(selector).forEach(watch);
  }, live);
  middle.open();
  await c.settled();
  await c.page.waitForFunction(() => globalThis.heard.length > 0);
  await c.page.waitForTimeout(300);
  assert.deepEqual(await c.page.evaluate(() => globalThis.heard), ['The answer is complete.']);
});
