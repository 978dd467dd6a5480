// The pages of a kept output: all states, every way to move, byte for byte.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite } from '../harness/suite.js';
import { calls, runs, says, untilLet } from '../harness/provider.js';
import { Pager } from '../harness/chat.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

/** A session with one kept output of a command. */
async function kept(app, provider, key, command, closing) {
  provider.on(key, ...runs(command, closing));
  const session = await app.session(key);
  const [output] = await app.outputs(session.id);
  assert.ok(output, 'nothing was kept');
  return { session, output };
}

const seq = (n) => Array.from({ length: n }, (_, i) => `${i + 1}\n`).join('');

it('the cut edge opens the copy; first, previous, next, last and a byte lead through it', async ({ app, chat, provider }) => {
  const { session } = await kept(app, provider, 'seq for paging', 'seq 1 200000');
  const whole = seq(200000);
  const c = await chat();
  await c.open(session.id);
  const pager = await c.openPager();
  const agrees = async () => {
    const [start, end, total] = await pager.range();
    assert.equal(total, whole.length);
    assert.ok(end - start <= 65536);
    assert.equal(await pager.content(), whole.slice(start, end));
    return [start, end];
  };
  const [opened] = await agrees();
  assert.ok(opened > 0 && opened < 24576, `the cut edge opens what was left out, at ${opened}`);
  await pager.turn(() => pager.first.click());
  const [start, end] = await agrees();
  assert.equal(start, 0);
  await pager.turn(() => pager.next.click());
  assert.equal((await agrees())[0], end);
  await pager.turn(() => pager.prev.click());
  assert.equal((await agrees())[0], 0);
  await pager.turn(() => pager.last.click());
  assert.equal((await agrees())[1], whole.length);
  assert.equal(await pager.more(), false);
  assert.match(await pager.root.innerText(), /end of the kept text/i);
  assert.equal(await pager.root.getByTestId('output-incomplete').count(), 0);
  await pager.turn(async () => {
    await pager.byte.fill('600,000');
    await pager.byte.press('Enter');
  });
  assert.equal((await agrees())[0], 600000);
  const said = pager.root.getByRole('alert');
  for (const typed of ['abc', '-5', '1e3', '']) {
    await pager.byte.fill(typed);
    await pager.byte.press('Enter');
    await eventually(async () => (await said.innerText()).includes(`“${typed}” is no byte`), async () => `of “${typed}” it says: ${await said.innerText()}`);
    assert.equal((await agrees())[0], 600000);
  }
  await pager.turn(async () => {
    await pager.byte.fill('99999999999999999999');
    await pager.byte.press('Enter');
  });
  await said.filter({ hasText: /99999999999999999999 is past the end/ }).waitFor();
  assert.equal((await agrees())[1], whole.length);
});

it('a search leads to the hit', async ({ app, chat, provider }) => {
  const { session } = await kept(app, provider, 'seq for searching', 'seq 1 200000');
  const c = await chat();
  await c.open(session.id);
  const pager = await c.openPager();
  await pager.search.fill('123456');
  await pager.search.press('Enter');
  await pager.hits.getByText(/1/).first().waitFor();
  if (!(await pager.content()).includes('123456\n')) await pager.root.locator('.hits a').first().click();
  await eventually(async () => (await pager.content()).includes('123456\n'), 'the page with the hit never came');
  assert.equal(await pager.text.locator('mark').first().textContent(), '123456');
  await pager.search.fill('no such words');
  await pager.search.press('Enter');
  await pager.hits.getByText(/no hit/i).waitFor();
});

it('the full page joined page by page is the copy, byte for byte', async ({ app, visit, provider }) => {
  const command = [
    "python3 - <<'PY'",
    'import sys',
    "w = sys.stdout.buffer.write",
    "w(b'\\n\\nleading newlines\\n')",
    "for i in range(900):",
    "    w(('%d\\ttab\\r\\n' % i).encode())",
    "    w('<script>alert(1)</script> &amp; <br>\\n'.encode())",
    "    w(('x' * (i % 7) + '😀' * 3 + 'é漢\\n').encode())",
    "w(b'last line without its end')",
    'PY',
  ].join('\n');
  const { session, output } = await kept(app, provider, 'bytes of all kinds', command);
  const copy = await app.copy(session.id, output.id);
  assert.equal(Buffer.byteLength(copy), output.total_bytes);
  assert.equal(output.complete, true);
  assert.ok(copy.startsWith('\n\nleading newlines\n0\ttab\r\n<script>alert(1)</script> &amp; <br>\n😀😀😀é漢\n'));
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}/out/${output.id}`);
  const pager = new Pager(page);
  assert.equal(sum(await pager.rest()), sum(copy), 'the pages joined are another text');
});

it('lone carriage returns and NULs are shown as the copy has them', async ({ app, visit, provider }) => {
  const { session, output } = await kept(app, provider, 'carriage returns', "for i in $(seq 1 4000); do printf 'step %d\\r' $i; done; printf 'end\\n'");
  const copy = await app.copy(session.id, output.id);
  assert.ok(copy.includes('step 1\rstep 2\r'), 'the copy stays as it was captured');
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}/out/${output.id}`);
  assert.equal(sum(await new Pager(page).rest()), sum(copy));

  const nul = await kept(app, provider, 'a NUL far behind', "seq 1 20000; printf 'a\\0b\\n'");
  const text = await app.copy(nul.session.id, nul.output.id);
  await page.goto(`${app.url}/s/${nul.session.id}/out/${nul.output.id}`);
  const shown = await new Pager(page).rest();
  assert.equal(shown.replaceAll('\u0000', '\uFFFD'), text.replaceAll('\u0000', '\uFFFD'));
});

it('what the model read is marked, and an extra page of it fills the bar', async ({ app, chat, visit, provider }) => {
  provider.on('read one page more', calls(['run_command', { command: 'seq 1 200000' }]), says('Read in part.'));
  const session = await app.session('read one page more');
  const [output] = await app.outputs(session.id);
  provider.on('now the middle', calls(['read_tool_output', { output_id: output.id, offset: 600000 }]), says('The middle is read.'));
  await app.say(session.id, 'now the middle');
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}/out/${output.id}?offset=598000`);
  const pager = new Pager(page);
  const [start] = await pager.range();
  const read = (await pager.text.locator('.seg.read').allTextContents()).join('');
  const before = await pager.text.evaluate((node) => {
    const mark = node.querySelector('.seg.read');
    const range = document.createRange();
    range.setStart(node, 0);
    range.setEndBefore(mark);
    return range.toString().length;
  });
  assert.equal(start + before, 600000, 'the mark begins where the model’s page begins');
  assert.ok(read.length > 0);
  const c = await chat();
  await c.open(session.id);
  assert.equal(await page.getByTestId('coverage').first().locator('rect.read').count(), 3);
  assert.match(await page.locator('.saw').first().innerText(), /model saw\s+28,\d{3}\s+of\s+1,288,895/i);
});

it('an incomplete copy says at the gap, at the end and in the row how much is missing', async ({ app, chat, visit, provider }) => {
  const { session, output } = await kept(app, provider, 'twenty MiB', "head -c 20971520 /dev/zero | tr '\\0' 'a' | fold -w 99");
  assert.equal(output.complete, false);
  assert.ok(output.total_bytes <= 8388608, `${output.total_bytes}`);
  const c = await chat();
  await c.open(session.id);
  await c.unfold();
  assert.match(await c.card.innerText(), /incomplete/i);
  await c.card.getByTestId('output-incomplete').first().waitFor();
  const missing = (await c.card.getByTestId('output-incomplete').first().innerText()).match(/([\d,]+) bytes/)[1];
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}/out/${output.id}`);
  const pager = new Pager(page);
  assert.equal(await pager.more(), true);
  await pager.turn(() => pager.last.click());
  assert.match(await pager.root.innerText(), /end of the kept text/i);
  const end = pager.root.getByTestId('output-incomplete').last();
  assert.ok((await end.innerText()).includes(missing), `the end says ${await end.innerText()}, the card ${missing}`);
  await pager.turn(() => end.getByRole('link').click());
  assert.match(await pager.content(), /bytes/i, 'the marker of the gap is on the page that the link opens');
});

it('a deleted output is a sentence with its date, and its bytes are gone', async ({ app, chat, visit, provider }) => {
  const { session, output } = await kept(app, provider, 'delete me', 'seq 1 100000');
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}/out/${output.id}`);
  await page.getByTestId('output-delete').click();
  await page.getByTestId('output-delete-confirm').click();
  await eventually(async () => (await app.outputs(session.id)).length === 0, 'the output is still in the list');
  const gone = await page.goto(`${app.url}/s/${session.id}/out/${output.id}`);
  assert.equal(gone.status(), 404);
  assert.match(await page.locator('main').innerText(), /deleted.*20\d\d/is);
  const c = await chat();
  await c.open(session.id);
  await c.unfold();
  assert.match(await c.card.innerText(), /deleted/i);
  assert.equal(await c.card.locator('a.cut').count(), 0, 'a cut edge that opens nothing');
}, { allow: [/status of (404|410)/] });

it('an output of another session, and one that never was, answer alike', async ({ app, visit, provider }) => {
  const { output } = await kept(app, provider, 'one of mine', 'seq 1 20000');
  const other = await app.session();
  const page = await visit();
  const texts = [];
  for (const id of [output.id, `${output.id.slice(0, -3)}abc`, 'out_nothing']) {
    const answer = await page.goto(`${app.url}/s/${other.id}/out/${id}`);
    assert.equal(answer.status(), 404);
    texts.push(await page.locator('main').innerText());
  }
  assert.match(texts[0], /No such output in this session/i);
  assert.equal(texts[1], texts[0]);
  assert.equal(texts[2], texts[0]);
}, { allow: [/status of 404/] });

it('a fork shows the messages and says that the copies stay behind', async ({ app, chat, provider }) => {
  const { session } = await kept(app, provider, 'fork this', 'seq 1 20000');
  const fork = await app.api('POST', `/sessions/${session.id}/fork`, {});
  const c = await chat();
  await c.open(fork.id);
  assert.equal(await c.questions.count(), 1);
  const notice = c.page.locator('[data-fork-notice]');
  assert.match(await notice.innerText(), /kept outputs|copies/i);
  await c.unfold();
  assert.equal(await c.card.locator('a.cut').count(), 0, 'a cut edge that opens nothing');
  assert.equal((await app.outputs(fork.id)).length, 0);
  await notice.getByRole('link').click();
  await c.page.waitForURL(`**/s/${session.id}`);
});

it('the copy of a running command can be paged meanwhile and says that it grows', async ({ app, visit, provider }) => {
  provider.on('still printing', ...runs(`for i in $(seq 1 3000); do echo growing $i; done; ${untilLet}`));
  const session = await app.session();
  const { turn_id: turn } = await app.api('POST', `/sessions/${session.id}/messages`, { content: 'still printing' });
  let output;
  await eventually(async () => {
    [output] = await app.outputs(session.id);
    return output?.total_bytes > 0;
  }, 'a running command has no copy');
  assert.equal(output.running, true);
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}/out/${output.id}`);
  const pager = new Pager(page);
  assert.match(await pager.content(), /^growing 1\n/);
  assert.match(await pager.root.innerText(), /so far/i);
  await app.letGo(session.id);
  await app.settled(turn);
});

it('the copy can be downloaded as it was printed', async ({ app, visit, provider }) => {
  const { session, output } = await kept(app, provider, 'download me', 'seq 1 50000');
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}/out/${output.id}`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the kept copy' }).click(),
  ]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), seq(50000));
});

it('a binary output is named as such, shown as hex, and downloaded as bytes', async ({ app, visit, provider }) => {
  const { session, output } = await kept(app, provider, 'binary please', "python3 -c \"import sys; sys.stdout.buffer.write(bytes(range(256))*64)\"");
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}/out/${output.id}`);
  const main = await page.locator('main').innerText();
  assert.match(main, /binary/i);
  assert.match(main, /16,384/);
  assert.match(main.replaceAll(/\s/g, ''), new RegExp(createHash('sha256').update(Buffer.from(Array.from({ length: 16384 }, (_, i) => i % 256))).digest('hex').slice(0, 8)));
  assert.match(await new Pager(page).content(), /^0{8,12} {2}00 01 02 03/);
});

it('a page that does not exist is refused with a sentence, never with a broken page', async ({ app, visit, provider }) => {
  const { session, output } = await kept(app, provider, 'odd offsets', "for i in $(seq 1 9000); do printf 'é%d' $i; done");
  const page = await visit();
  for (const offset of ['-1', '1', '99999999999', '99999999999999999999999', 'abc', '1e3']) {
    const answer = await page.goto(`${app.url}/s/${session.id}/out/${output.id}?offset=${offset}`);
    assert.ok(answer.status() < 500, `offset ${offset}: ${answer.status()}`);
    assert.ok((await page.locator('main').innerText()).trim().length > 10, `offset ${offset} leaves an empty page`);
  }
}, { allow: [/status of 4\d\d/] });

function sum(text) {
  return `${Buffer.byteLength(text)} bytes ${createHash('sha256').update(text).digest('hex')}`;
}
