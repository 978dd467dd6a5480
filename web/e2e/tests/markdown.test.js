// Whatever a model wrote is rendered as Markdown and can do nothing else.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { says } from '../harness/provider.js';

const it = suite();

const attacks = [
  '<script>globalThis.attacked = 1</script>',
  '<img src=x onerror="globalThis.attacked = 2">',
  '[click](javascript:globalThis.attacked=3)',
  '<a href="javascript:globalThis.attacked=4">link</a>',
  '<svg onload="globalThis.attacked = 5"></svg>',
  '<iframe srcdoc="<script>parent.attacked = 6</script>"></iframe>',
  '![pixel](http://attacker.invalid/pixel.png)',
  '<style>body { display: none }</style>',
  '<form action="http://attacker.invalid"><button data-testid="send">go</button></form>',
  '<div hx-get="/admin" hx-trigger="load">x</div>',
  '`<b>code</b>`',
];

it('an answer full of attacks does nothing, streamed or loaded', async ({ chat, provider }) => {
  provider.on('attack me', says('', { chunks: attacks.flatMap((a) => [`${a.slice(0, 12)}`, `${a.slice(12)}\n\n`]), delay: 1 }));
  const c = await chat();
  await c.open();
  await c.ask('attack me');
  for (const when of ['streamed', 'loaded']) {
    assert.equal(await c.page.evaluate(() => globalThis.attacked), undefined, when);
    const prose = c.answer.locator('.part');
    assert.equal(await prose.locator('script, iframe, style, form, object, embed, [onerror], [onload], [hx-get], [style]').count(), 0, when);
    assert.equal(await prose.locator('a[href^="javascript:" i]').count(), 0, when);
    assert.match(await prose.first().evaluate((p) => p.closest('article').textContent), /<b>code<\/b>/, when);
    await c.page.reload();
  }
}, { allow: [/attacker\.invalid/] });

// htmx obeys what is put into a page with the form's token of whoever reads it.
it('a file is never put into a page, whatever address asks for it', async ({ app, chat, provider }) => {
  provider.on('write mark-up', says('<div hx-post="/admin/users" hx-trigger="load">taken</div>'));
  const session = await app.session('write mark-up');
  const c = await chat();
  await c.open(session.id);
  const asked = [];
  c.page.on('request', (request) => { if (request.method() === 'POST') asked.push(request.url()); });
  for (const format of ['md', 'json']) {
    await c.page.evaluate((url) => window.htmx.ajax('GET', url, { target: '#messages', swap: 'beforeend' }), `${app.url}/s/${session.id}/export?format=${format}`);
    assert.equal(await c.page.locator('#messages [hx-post="/admin/users"]').count(), 0, format);
    assert.match(await c.page.locator('#toast').innerText(), /\S/);
  }
  assert.deepEqual(asked, []);
});

it('a user’s own message is shown as it was written', async ({ chat, provider }) => {
  const text = '<script>alert(1)</script> **not bold** &amp;\n    indented';
  provider.on('not bold', says('Seen.'));
  const c = await chat();
  await c.open();
  await c.ask(text);
  assert.ok((await c.questions.last().textContent()).includes('<script>alert(1)</script>'));
  await c.page.reload();
  assert.ok((await c.questions.last().textContent()).includes('<script>alert(1)</script>'));
});

it('tables, code and lists look the same streamed and loaded', async ({ chat, provider }) => {
  const md = [
    '# Heading', '', 'Some *words* and a [link][ref].', '', '| a | b |', '|---|--:|', '| 1 | 2 |', '',
    '- one', '- two', '', '  still two', '', '```go', 'func main() { println("<hi>") }', '', 'var x = 1', '```', '',
    '> quoted', '> more', '', '1. first', '2. second', '', '[ref]: https://example.org/', '',
  ].join('\n');
  provider.on('write markdown', says('', { chunks: md.match(/.{1,7}/gs), delay: 2 }));
  const c = await chat();
  await c.open();
  await c.ask('write markdown');
  const html = () => c.answer.locator('.part').first().evaluate((part) => part.innerHTML.replaceAll(/\s+/g, ' ').trim());
  const streamed = await html();
  await c.page.reload();
  assert.equal(streamed, await html());
  assert.equal(await c.answer.locator('.part table td').count(), 2);
  assert.equal(await c.answer.locator('.part pre').count(), 1);
  assert.match(await c.answer.locator('.part pre').textContent(), /println\("<hi>"\) \}\n\nvar x = 1/);
  assert.equal(await c.answer.locator('.part a[href="https://example.org/"]').count(), 1);
});

it('text that runs from right to left begins at the right, in the box, in a question and in an answer', async ({ chat, provider }) => {
  provider.on('مرحبا', says('هذا نص من اليمين.\n\nAnd this is not.\n'));
  const c = await chat();
  await c.open();
  await c.box.fill('مرحبا');
  assert.equal(await c.box.evaluate((box) => getComputedStyle(box).unicodeBidi), 'plaintext');
  await c.ask('مرحبا');
  /** How far the text of a paragraph stands from its left and its right edge, in pixels. */
  const room = (paragraph) => paragraph.evaluate((node) => {
    const [box, range] = [node.getBoundingClientRect(), document.createRange()];
    range.selectNodeContents(node);
    const text = range.getBoundingClientRect();
    return [Math.round(text.left - box.left), Math.round(box.right - text.right)];
  });
  for (const [paragraph, rightToLeft] of [[c.questions.first().locator('.said p'), true], [c.answer.locator('.part p').first(), true], [c.answer.locator('.part p').last(), false]]) {
    const [left, right] = await room(paragraph);
    assert.ok(rightToLeft ? left > 50 && right <= 1 : left <= 1 && right > 50, `${left} px to its left, ${right} px to its right`);
  }
});

it('a title with markup is text in the list, the head and the window', async ({ app, chat }) => {
  const session = await app.api('POST', '/sessions', { title: '<img src=x onerror=alert(1)> & more' });
  const c = await chat();
  await c.open(session.id);
  assert.match(await c.page.locator('h1').first().innerText(), /<img src=x onerror=alert\(1\)> & more/);
  assert.match(await c.page.title(), /<img src=x/);
  assert.match(await c.page.getByTestId('session-item').first().innerText(), /<img src=x/);
});
