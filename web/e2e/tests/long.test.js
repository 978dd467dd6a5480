// Long sessions in the browser: however much there is, what a page holds is
// bounded, and what is not there comes as one scrolls up.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from '../harness/suite.js';
import { gate, says } from '../harness/provider.js';
import { conversation, exported, ran, replies, seeded, turn } from '../harness/seed.js';
import { accessible } from '../harness/axe.js';
import { eventually } from '../harness/eventually.js';

const it = suite({ env: { OFFCUT_MODEL_CONTEXT_TOKENS: '100000000' } });

const mostHTML = 512 * 1024;
const elements = (page) => page.evaluate(() => document.querySelectorAll('*').length);

/** Turns the wheel up until something holds. */
async function scrollsUp(page, until, complaint) {
  await page.mouse.move(640, 300);
  await eventually(async () => {
    await page.mouse.wheel(0, -2000);
    return until();
  }, complaint);
}

/** Where the first match stands in the window, in pixels. */
const placeOf = (locator) => locator.evaluate((node) => Math.round(node.getBoundingClientRect().top));

it('a session of 10,000 messages opens like one of 20, goes back as one scrolls, and is deleted at once', async ({ app, chat, t }) => {
  const started = Date.now();
  const long = await seeded(app, conversation(10000), 'Long');
  const stored = Date.now() - started;
  const short = await seeded(app, conversation(20), 'Short');
  const c = await chat();
  const best = { [long.id]: Infinity, [short.id]: Infinity };
  const alike = () => best[long.id] <= 1.5 * best[short.id] + 20;
  for (let n = 0; n < 6 || (n < 40 && !alike()); n += 1) { // a busy machine needs more tries
    for (const { id } of [short, long]) {
      const answer = await c.page.goto(`${app.url}/s/${id}`);
      assert.ok((await answer.body()).length <= mostHTML / 2);
      const took = await c.page.evaluate(() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd);
      best[id] = Math.min(best[id], took);
    }
  }
  t.diagnostic(`opened in ${best[long.id]} ms and ${best[short.id]} ms`);
  assert.ok(alike(), `10,000 messages: ${best[long.id]} ms, 20 messages: ${best[short.id]} ms`);

  const shown = () => c.questions.evaluateAll((all) => all.map((q) => Number(q.textContent.match(/number (\d+)\./)[1])));
  const opened = await elements(c.page);
  await scrollsUp(c.page, async () => await c.questions.count() >= 80, 'earlier messages do not come');
  const numbers = await shown();
  assert.deepEqual(numbers, Array.from(numbers, (_, i) => 5000 - numbers.length + 1 + i), 'something is missing, twice or out of order');
  assert.ok(await elements(c.page) / opened < 8, 'a message takes more elements as there are more of them');
  const found = await c.page.evaluate((text) => window.find(text, true, true), `Answer ${numbers[3]} has`);
  assert.ok(found, 'what is far above is not found in the page');
  const skipped = await c.page.evaluate(() => [...document.querySelectorAll('.msg')].filter((m) => !m.firstElementChild.checkVisibility({ contentVisibilityAuto: true })).length);
  assert.ok(skipped > 60, `only ${skipped} messages that are out of sight cost no layout`);
  await accessible(c.page, 'a long session after scrolling up');

  const began = Date.now();
  await app.api('DELETE', `/sessions/${long.id}`);
  const took = Date.now() - began;
  t.diagnostic(`stored in ${stored} ms, deleted in ${took} ms`);
  assert.ok(took < Math.max(1000, stored), `the deletion took ${took} ms`);
});

it('what one reads stays where it is while earlier messages come', async ({ app, chat }) => {
  const { id } = await seeded(app, conversation(400, (i) => `Answer ${i}.\n\n${'A line of prose that is there. '.repeat(30)}`), 'Steady');
  const c = await chat();
  await c.open(id);
  for (let n = 0; n < 3; n += 1) {
    const before = await c.questions.count();
    const read = c.questions.first();
    await c.page.evaluate(() => { document.scrollingElement.scrollTop = 300; });
    await c.page.evaluate(() => new Promise((drawn) => { requestAnimationFrame(() => requestAnimationFrame(drawn)); }));
    const at = await placeOf(read);
    await c.page.evaluate(() => document.querySelector('[data-older=log]').click());
    await eventually(async () => await c.questions.count() > before, 'earlier messages do not come');
    await sleep(200);
    const now = await placeOf(c.questions.nth(await c.questions.count() - before));
    assert.ok(Math.abs(now - at) <= 4, `it stood at ${at} and stands at ${now}`);
  }
});

it('a session of a dozen rich messages is there at once', async ({ app, chat, t }) => {
  const rich = (i) => `## Part ${i}\n\nSome **bold** words, \`code\` and a [link](https://example.com/${i}).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`go\nfunc f(n int) (int, error) { return n * ${i}, nil }\n\`\`\`\n\n`.repeat(40);
  const { id } = await seeded(app, conversation(24, rich), 'Rich');
  const c = await chat();
  let best = Infinity;
  for (let n = 0; n < 4 && best >= 500; n += 1) {
    const body = await (await c.page.goto(`${app.url}/s/${id}`)).body();
    assert.ok(body.length <= mostHTML, `${body.length} bytes`);
    await c.composer.waitFor();
    best = Math.min(best, await c.page.evaluate(() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd));
  }
  t.diagnostic(`it was there in ${best} ms`);
  assert.ok(best < 1000, `it was there in ${best} ms`);
});

it('a long turn is there from its end, and back to its beginning as one scrolls', async ({ app, chat }) => {
  const steps = Array.from({ length: 80 }, (_, i) => ran(`c${i}`, `echo ${i}`, 'x', { reasoning: 'I think so. '.repeat(500), content: `Step ${i}.` })).flat();
  const { id } = await seeded(app, [turn('Do eighty things.', ...steps, replies('Done.'))], 'One turn');
  const c = await chat();
  await c.open(id);
  assert.ok(await c.cards.count() < 80, 'all of a long turn came at once');
  await scrollsUp(c.page, async () => await c.cards.count() === 80, 'the earlier steps do not come');
  assert.deepEqual(await c.page.locator('.part').evaluateAll((all) => all.map((p) => p.innerText.match(/Step \d+|Done/)[0])),
    [...Array.from({ length: 80 }, (_, i) => `Step ${i}`), 'Done']);
  assert.equal(await c.page.locator('#messages [data-older]').count(), 0);
});
