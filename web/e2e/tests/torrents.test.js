// Much that comes at once: what the page holds stays bounded, what it does for
// each piece does not grow, and nothing of what came is lost.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, gate, says } from '../harness/provider.js';
import { conversation, seeded } from '../harness/seed.js';
import { frames, holds, tasks, watchTasks } from '../harness/pace.js';
import { eventually } from '../harness/eventually.js';

const it = suite({ env: { OFFCUT_MODEL_CONTEXT_TOKENS: '100000000' } });

const words = (n) => Array.from({ length: n }, (_, i) => `w${i}${i % 40 === 39 ? '.\n\n' : ' '}`);
const numbersIn = (text) => [...text.matchAll(/w(\d+)/g)].map(([, n]) => Number(n));

/** The text of the last answer's part, its blocks and its tail; `andGoBack` then asks for what is above it. */
const shownText = (c, { andGoBack = false } = {}) => c.answer.locator('.part').last().evaluate((part, back) => {
  const text = [...part.querySelectorAll(':scope > .prose:not(.reason)')].map((p) => p.textContent).join('\n');
  if (back) part.querySelector('[data-older=text]').click();
  return text;
}, andGoBack);

it('100,000 tokens stream into a page that stays small and quick, and can be read back', async ({ app, chat, provider, t }) => {
  const end = gate();
  provider.on('a torrent', says('', { chunks: words(100000), delay: 4, burst: 200, hold: { after: 99900, gate: end } }));
  const c = await chat();
  await c.open((await app.session()).id);
  const before = await holds(c.page);
  await watchTasks(c.page);
  await c.say('a torrent');
  await eventually(async () => (await shownText(c)).includes('w99899'), 'the end of the torrent does not come', 60000);
  const [{ halves, longest }, after] = [await tasks(c.page), await holds(c.page)];
  t.diagnostic(`halves ${halves} ms, longest ${longest} ms, elements ${before.elements} to ${after.elements}, text ${after.text}, heap ${before.heap} to ${after.heap}`);
  assert.ok(after.elements < before.elements + 1500, `${after.elements} elements, ${before.elements} before`);
  assert.ok(after.text < 250000, `${after.text} characters`);
  assert.ok(after.heap < before.heap + 16e6, `the heap grew from ${before.heap} to ${after.heap} bytes`);
  assert.ok(halves[1] <= 2 * halves[0] + 500, `long tasks took ${halves[0]} ms in the first half and ${halves[1]} ms in the second`);

  const earlier = async () => {
    const [first] = numbersIn(await shownText(c, { andGoBack: true })); // at one moment: text goes as more comes
    await eventually(async () => numbersIn(await shownText(c))[0] < first, 'what is above does not come');
    return numbersIn(await shownText(c))[0];
  };
  assert.match(await c.answer.locator('[data-older=text]').innerText(), /Earlier text of this answer: [\d,]+ bytes/);
  await earlier(); // while it streams
  const body = await (await c.page.reload()).body();
  assert.ok(body.length <= 512 * 1024, `a page in mid-stream has ${body.length} bytes`);
  const reached = await earlier();
  end.open();
  await c.settled();
  const all = numbersIn(await shownText(c));
  assert.deepEqual(all, Array.from(all, (_, i) => 99999 - all.length + 1 + i), 'something is missing, twice or out of order');
  assert.ok(all[0] <= reached, 'what was fetched is gone again at the end');

  const { bytes, numbers } = await c.page.evaluate(async () => {
    const answer = await fetch(`/turns/${[...document.querySelectorAll('article[data-role=assistant]')].at(-1).dataset.turn}/text`);
    const text = await answer.text();
    return { bytes: text.length, numbers: [...text.matchAll(/w(\d+)/g)].length };
  });
  assert.equal(numbers, 100000, `${bytes} characters of the answer are stored`);
});

it('earlier text that one asked for comes, however much streams in meanwhile', async ({ app, chat, provider }) => {
  const [more, end] = [gate(), gate()];
  provider.on('a torrent in two', says('', { chunks: words(60000), delay: 4, burst: 200, hold: { after: 30000, gate: more } }));
  const c = await chat();
  await c.open((await app.session()).id);
  await c.page.route('**/text?before=*', async (route) => {
    more.open();
    await end.opened;
    await route.continue();
  });
  await c.say('a torrent in two');
  await eventually(async () => (await shownText(c)).includes('w29999'), 'the first half does not come', 60000);
  await c.answer.locator('[data-older=text]').press('Enter'); // which scrolls nothing, as a click would
  const [first] = numbersIn(await shownText(c)); // it goes no further: who goes back does not follow
  await eventually(async () => await c.answer.getAttribute('data-state') === 'done', 'the second half does not end', 60000);
  end.open();
  await eventually(async () => numbersIn(await shownText(c))[0] < first, 'what was asked for never came');
  const all = numbersIn(await shownText(c));
  assert.deepEqual(all, Array.from(all, (_, i) => 60000 - all.length + i), 'something is missing, twice or out of order');
});

it('a line of 5 MB in an answer neither fills nor widens the page, streamed or loaded', async ({ app, chat, provider, t }) => {
  const end = gate();
  const chunks = Array.from({ length: 1000 }, (_, i) => `${'x'.repeat(5000 - 6)}[${String(i).padStart(3, '0')}].`);
  provider.on('one endless line', says('', { chunks, delay: 2, hold: { after: 1000, gate: end } }));
  const c = await chat();
  await c.open((await app.session()).id);
  await watchTasks(c.page);
  await c.say('one endless line');
  await eventually(async () => (await shownText(c)).includes('[999]'), 'the end of the line does not come', 60000);
  const small = async (when) => {
    const now = await holds(c.page);
    t.diagnostic(`${when}: ${now.text} characters, ${now.elements} elements, heap ${now.heap}`);
    assert.ok(now.text < 350000 && now.elements < 2000, `${when}: ${now.text} characters, ${now.elements} elements`);
    assert.ok(await c.page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), `${when} the page is too wide`);
  };
  await small('streamed');
  const { longest, halves } = await tasks(c.page);
  t.diagnostic(`longest task ${longest} ms, halves ${halves} ms`);
  assert.ok(halves[1] <= 2 * halves[0] + 500, `long tasks took ${halves[0]} ms in the first half and ${halves[1]} ms in the second`);
  end.open();
  await c.settled();
  await small('ended');
  const body = await (await c.page.reload()).body();
  assert.ok(body.length <= 512 * 1024, `the page has ${body.length} bytes`);
  await small('loaded');
  assert.match(await shownText(c), /x\[999\]\.\s*$/);
  await c.page.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text.length; }; });
  await c.answer.locator('[data-copy-answer]').click();
  await c.page.waitForFunction(() => globalThis.copied === 5000000, null);
});

it('a page that follows lets go of old messages, and has them again when one goes back', async ({ app, chat, provider }) => {
  provider.on('go on now', says('It goes on.'));
  const { id } = await seeded(app, conversation(400), 'Followed');
  const c = await chat();
  await c.open(id);
  while (await c.questions.count() < 110) {
    const before = await c.questions.count();
    await c.page.locator('[data-older=log]').click();
    await eventually(async () => await c.questions.count() > before, 'earlier messages do not come');
  }
  await c.page.evaluate(() => { document.activeElement.blur(); });
  await c.say('go on now'); // whoever sends is at the end again
  await c.shows('It goes on.');
  await c.settled();
  await eventually(async () => await c.questions.count() < 40, async () => `${await c.questions.count()} questions stay in the page`);
  await c.page.locator('[data-older=log]').click();
  await eventually(async () => await c.questions.count() > 40, 'what was let go of does not come again');
  const numbers = (await c.questions.allTextContents()).map((text) => Number(text.match(/number (\d+)\./)?.[1])).filter(Boolean);
  assert.deepEqual(numbers, Array.from(numbers, (_, i) => 200 - numbers.length + 1 + i));
});

it('an answer streams into 2 MB of messages as smoothly as into none', async ({ app, chat, provider, t }) => {
  const rich = (i) => `${`A paragraph with **bold** words, \`code\` and a [link](https://example.com/${i}).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`go\nfunc f() int { return ${i} }\n\`\`\`\n\n`.repeat(250)}`;
  const { id } = await seeded(app, conversation(90, rich), 'Two megabytes');
  const rates = [];
  provider.on('stream smoothly', says('', { chunks: words(2000), delay: 2 }));
  for (const session of [(await app.session()).id, id]) {
    const c = await chat();
    await c.open(session);
    rates.push(await frames(c.page, async () => {
      await c.say('stream smoothly');
      await c.shows('w1999.');
    }));
    await c.page.close();
  }
  t.diagnostic(JSON.stringify(rates));
  assert.ok(rates[1].rate > rates[0].rate / 2, `${rates[1].rate} frames a second, and ${rates[0].rate} in an empty session`);
});

it('two hundred outputs of 1 MB in a session open as a small page, and one is read at its end', async ({ app, chat, provider, t }) => {
  const twenty = Array.from({ length: 20 }, (_, i) => ['run_command', { command: `yes 'output ${i} of a megabyte' | head -c 1000000` }]);
  provider.on('print much', ...Array.from({ length: 10 }, () => [calls(...twenty), says('Printed.')]));
  const session = await app.session();
  for (let i = 1; i <= 10; i += 1) await app.say(session.id, `print much, number ${i}`);
  assert.equal((await app.api('GET', `/sessions/${session.id}/outputs?limit=200`)).items.length, 200);
  const c = await chat();
  const began = Date.now();
  const body = await (await c.page.goto(`${app.url}/s/${session.id}`)).body();
  assert.ok(body.length <= 512 * 1024, `the first HTML has ${body.length} bytes`);
  await c.composer.waitFor();
  assert.ok(Date.now() - began < 5000, `it took ${Date.now() - began} ms to open`);
  const opened = await holds(c.page);
  t.diagnostic(`${body.length} bytes, ${opened.elements} elements, ${opened.text} characters, heap ${opened.heap}`);
  assert.ok(opened.elements < 5000 && opened.text < 300000, `${opened.elements} elements, ${opened.text} characters`);
  const pager = await c.openPager(c.cards.last());
  await pager.turn(() => pager.last.click());
  assert.equal((await pager.range())[2], 1000000);
  assert.ok((await holds(c.page)).elements < opened.elements + 500);
});
