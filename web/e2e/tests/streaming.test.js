import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from '../harness/suite.js';
import { gate, numbers, runs, says } from '../harness/provider.js';
import { Proxy } from '../harness/proxy.js';
import { eventually } from '../harness/eventually.js';

const it = suite();
const hundred = numbers(1, 100);
const whole = hundred.join('');

/** An answer of the numbers 1 to 100 that waits in its middle. */
function halting(provider, key, after = 50) {
  const middle = gate();
  provider.on(key, says('', { chunks: hundred, delay: 2, hold: { after, gate: middle } }));
  return middle;
}

it('text streams in and stands exactly as it was sent', async ({ chat, provider }) => {
  const middle = halting(provider, 'count straight');
  const c = await chat();
  await c.open();
  await c.say('count straight');
  await c.shows(hundred.slice(0, 50).join(''), { exactly: true });
  assert.equal(await c.answer.getAttribute('data-state'), 'running');
  middle.open();
  await c.settled();
  assert.equal(await c.text(), whole);
});

it('an answer has its text at every moment, also at that at which it ends', async ({ app, chat, provider }) => {
  provider.on('without a gap', says('All of it is here.', { delay: 100 }));
  const c = await chat();
  await c.open((await app.session()).id);
  await c.page.evaluate(() => {
    globalThis.atItsEnd = [];
    new MutationObserver((changes) => {
      for (const { target } of changes) if (target.dataset.role === 'assistant' && target.dataset.state === 'done') globalThis.atItsEnd.push(target.innerText);
    }).observe(document.body, { subtree: true, attributeFilter: ['data-state'] });
  });
  await c.say('without a gap');
  await c.settled();
  const texts = await c.page.evaluate(() => globalThis.atItsEnd);
  assert.ok(texts.length && texts.every((text) => text.includes('All of it is here.')), `its text was ${JSON.stringify(texts)}`);
});

it('a reload in the middle loses and repeats nothing', async ({ chat, provider }) => {
  const middle = halting(provider, 'count reload');
  const c = await chat();
  await c.open();
  await c.say('count reload');
  await c.shows(hundred.slice(0, 50).join(''), { exactly: true });
  await c.page.reload();
  await c.shows(hundred.slice(0, 50).join(''), { exactly: true });
  middle.open();
  await c.settled();
  assert.equal(await c.text(), whole);
});

it('a second tab that comes in the middle shows the same', async ({ chat, provider }) => {
  const middle = halting(provider, 'count twice');
  const one = await chat();
  await one.open();
  await one.say('count twice');
  await one.shows(' 50');
  const two = await chat({ beside: one.page });
  await two.open(one.sessionID);
  await two.shows(hundred.slice(0, 50).join(''), { exactly: true });
  middle.open();
  await Promise.all([one.settled(), two.settled()]);
  assert.equal(await one.text(), whole);
  assert.equal(await two.text(), whole);
});

it('three dropped sockets lose and repeat nothing, and nothing is sent again', async ({ t, app, chat, provider }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  provider.on('count drops', says('', { chunks: hundred, delay: 60 }));
  const c = await chat({ via: proxy.origin });
  const texts = [];
  c.page.on('websocket', (ws) => ws.on('framereceived', ({ payload }) => {
    const frame = JSON.parse(payload.toString());
    if (frame.t === 'text') texts.push(frame.seq);
  }));
  await c.open();
  await c.say('count drops');
  for (const n of [15, 40, 65]) {
    await c.shows(` ${n}`);
    const before = proxy.opened;
    proxy.drop();
    await eventually(() => proxy.opened > before, 'the page never came back');
  }
  await c.settled();
  assert.equal(await c.text(), whole);
  assert.equal(new Set(texts).size, texts.length, `text was sent again: ${texts}`);
}, { allow: [/WebSocket|htmx:ws:error/i] });

it('a drop of seconds while a command prints is made up for', async ({ t, app, chat, provider }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  provider.on('print slowly', ...runs('for i in $(seq 1 40); do echo line $i; sleep 0.1; done', 'All forty.'));
  const c = await chat({ via: proxy.origin });
  await c.open();
  await c.say('print slowly');
  await c.live.getByText('line 5').first().waitFor();
  proxy.refusing = true;
  proxy.drop();
  await sleep(2500);
  assert.equal(await c.answer.getAttribute('data-state'), 'running', 'the page took the drop for an end');
  assert.ok(await c.stop.isVisible(), 'the composer looks idle');
  proxy.refusing = false;
  await c.settled();
  assert.equal(await c.text(), 'All forty.');
  await c.unfold();
  assert.match(await c.card.textContent(), /line 1\n.*line 40/s);
}, { allow: [/WebSocket|htmx:ws:error/i] });

it('leaving the session and coming back finds the answer and its stop button', async ({ chat, provider }) => {
  const middle = halting(provider, 'count away');
  const c = await chat();
  await c.open();
  await c.say('count away');
  await c.shows(' 50');
  const id = c.sessionID;
  await c.page.getByTestId('new-session').first().click();
  await c.page.waitForURL((url) => !url.pathname.includes('/s/'));
  await c.page.locator(`[data-testid=session-item] a[href*="${id}"]`).click();
  await c.shows(hundred.slice(0, 50).join(''), { exactly: true });
  await c.stop.waitFor();
  middle.open();
  await c.settled();
  assert.equal(await c.text(), whole);
});

it('closing the tab does not end the turn', async ({ chat, provider, app }) => {
  const middle = halting(provider, 'count closed');
  const c = await chat();
  await c.open();
  await c.say('count closed');
  await c.shows(' 50');
  const id = c.sessionID;
  const again = await chat({ beside: c.page });
  await c.page.close();
  await sleep(300);
  middle.open();
  await eventually(async () => (await app.messages(id)).at(-1).state === 'done', 'the turn never ended');
  await again.open(id);
  assert.equal(await again.text(), whole);
});

it('a message sent in one tab appears in the other, answer included', async ({ chat, provider }) => {
  provider.on('first of two tabs', says('One.'));
  provider.on('second of two tabs', says('Two.'));
  const one = await chat();
  await one.open();
  await one.ask('first of two tabs');
  const two = await chat({ beside: one.page });
  await two.open(one.sessionID);
  await one.say('second of two tabs');
  await two.settled('done', 2);
  assert.equal(await two.questions.last().locator('.said').innerText(), 'second of two tabs');
  assert.equal(await two.text(), 'Two.');
  assert.equal(await two.questions.count(), 2);
});

it('the title of the window says that a turn runs, and the session gets its title by itself', async ({ chat, provider }) => {
  const middle = halting(provider, 'Count for the title');
  const c = await chat();
  await c.open();
  const idle = await c.page.title();
  await c.say('Count for the title');
  await c.page.waitForFunction((old) => document.title !== old && /^[*●•]/.test(document.title), idle);
  await c.page.waitForFunction(() => document.title.includes('Count for the title'));
  middle.open();
  await c.settled();
  await c.page.waitForFunction(() => !/^[*●•]/.test(document.title));
  await c.page.locator('h1').first().filter({ hasText: /Count for the title/ }).waitFor();
  await c.page.getByTestId('session-item').first().filter({ hasText: /Count for the title/ }).waitFor();
});

it('a screen reader is not told every token, but once that the answer is there', async ({ chat, provider }) => {
  const middle = halting(provider, 'count silently');
  const c = await chat();
  await c.open();
  await c.page.evaluate(() => {
    globalThis.spoken = [];
    new MutationObserver(() => globalThis.spoken.push(document.querySelector('[role=status]').textContent))
      .observe(document.querySelector('[role=status]'), { childList: true, characterData: true, subtree: true });
  }).catch(() => {});
  await c.say('count silently');
  await c.shows(' 50');
  const live = await c.answer.evaluate((article) => {
    const streaming = article.querySelector('.part .tail') ?? article;
    return !!streaming.closest('[aria-live=polite], [aria-live=assertive], [role=log], [role=status], [role=alert]');
  });
  assert.equal(live, false, 'the streaming text stands in a live region');
  await c.page.evaluate(() => {
    const status = document.querySelector('#sr') ?? document.querySelector('[role=status]');
    globalThis.spoken = [];
    new MutationObserver(() => globalThis.spoken.push(status.textContent)).observe(status, { childList: true, characterData: true, subtree: true });
  });
  middle.open();
  await c.settled();
  await c.page.waitForFunction(() => globalThis.spoken.some((text) => text.trim()));
  const spoken = await c.page.evaluate(() => globalThis.spoken.filter((text) => text.trim()));
  assert.ok(new Set(spoken).size <= 2, `the status was spoken ${spoken.length} times: ${spoken}`);
});

it('one turn asks for the session list at most once', async ({ chat, provider }) => {
  provider.on('watch the list', ...runs('echo one', 'Read.'));
  provider.on('watch it again', ...runs('echo two', 'Read again.'));
  const c = await chat();
  await c.open();
  await c.ask('watch the list');
  let lists = 0;
  c.page.on('request', (request) => {
    if (request.method() === 'GET' && new URL(request.url()).pathname.endsWith('/sessions')) lists += 1;
  });
  await c.ask('watch it again');
  await sleep(500);
  assert.ok(lists <= 1, `${lists} requests`);
});

it('long pages of text do not grow the work per chunk: the tail stays one short text node', async ({ chat, provider }) => {
  const middle = gate();
  const paragraphs = Array.from({ length: 120 }, (_, i) => `Paragraph ${i} says a little.\n\n`);
  const chunks = paragraphs.flatMap((p) => [p.slice(0, 9), p.slice(9)]);
  const words = Array.from({ length: 100 }, (_, i) => `word${i} `);
  provider.on('many paragraphs', says('', { chunks: [...chunks, ...words], delay: 1, hold: { after: chunks.length + words.length, gate: middle } }));
  const c = await chat();
  await c.open();
  await c.say('many paragraphs');
  await c.shows('word99');
  const tail = await c.answer.locator('.part > .tail').evaluate((node) => ({ nodes: node.childNodes.length, kind: node.firstChild.nodeType, text: node.textContent }));
  assert.deepEqual([tail.nodes, tail.kind], [1, 3]);
  assert.ok(tail.text.trim().endsWith(words.join('').trim()) && tail.text.length < 1000, `${tail.text.length} characters wait for the end of their block`);
  middle.open();
  await c.settled();
  assert.equal(await c.answer.locator('.part p').count(), 121);
  const text = await c.text();
  for (const i of [0, 59, 119]) assert.equal(text.split(`Paragraph ${i} says`).length, 2, `paragraph ${i} stands once`);
});

it('the browser’s back button finds the running answer again', async ({ app, chat, provider }) => {
  const middle = halting(provider, 'count and go back');
  const other = await app.session();
  const c = await chat();
  await c.open();
  await c.say('count and go back');
  await c.shows(' 50');
  await c.page.goto(`${app.url}/s/${other.id}`);
  middle.open();
  await sleep(300);
  await c.page.goBack();
  await c.settled();
  assert.equal(await c.text(), whole);
});
