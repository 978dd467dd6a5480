// What an answer rests on: the line under it, the ways to what was not read, and
// the mark on an answer that misses something it may not have read.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { runs } from '../harness/provider.js';

const it = suite();

const line = (c) => c.page.getByTestId('answer-coverage');
const mark = (c) => c.page.getByTestId('absence-mark');

it('an answer that rests on a preview says so, live and after a reload, and leads to the first unread byte', async ({ chat, provider }) => {
  provider.on('count far', ...runs('seq 1 20000', 'The last is 20000.'));
  provider.on('count near', ...runs('seq 1 20', 'The last is 20.'));
  const c = await chat();
  await c.open();
  await c.ask('count far');
  const text = /This answer rests on 24,5\d\d of 108,894 bytes of seq 1 20000\./;
  await line(c).getByText(text).waitFor();
  await accessible(c.page, 'an answer with its line');
  await c.page.reload();
  await line(c).getByText(text).waitFor();
  assert.equal(await mark(c).count(), 0, 'nothing is said to be absent');

  await c.ask('count near');
  assert.match(await line(c).last().innerText(), /From an earlier turn the model still had 24,5\d\d of 108,894 bytes/);
  await c.page.setViewportSize({ width: 360, height: 740 });
  await noSidewaysScroll(c.page, 'an answer with its line on a telephone');
  await c.page.setViewportSize({ width: 1280, height: 800 });

  const way = line(c).first().getByRole('link', { name: 'Read the rest: seq 1 20000' });
  const first = Number(new URL(await way.evaluate((a) => a.href)).searchParams.get('offset'));
  await way.click();
  await c.page.waitForURL(/\/out\//);
  const shown = await c.page.getByTestId('output-text').textContent();
  const copy = Array.from({ length: 20000 }, (_, i) => `${i + 1}\n`).join('');
  assert.ok(first > 8000 && shown === copy.slice(first, first + shown.length), `the page at ${first} begins with ${shown.slice(0, 20)}`);
});

it('an answer that misses something unread is marked; it can be searched, and the model asked to look', async ({ chat, provider }) => {
  provider.on('is 9999 there', ...runs('seq 1 20000', 'There is no `9999` in it.'));
  const c = await chat();
  await c.open();
  await c.ask('is 9999 there');
  await mark(c).getByText('The answer says that something is not there').waitFor();
  assert.match(await mark(c).innerText(), /There is no `9999` in it\..*It had 24,5\d\d of 108,894 bytes of seq 1 20000\./s);
  await accessible(c.page, 'an answer that is marked');

  await c.page.locator('#composer-text').fill('Well.');
  await mark(c).getByRole('button', { name: 'Ask the model to look' }).click();
  const draft = await c.page.locator('#composer-text').inputValue();
  assert.match(draft, /^Well\.\n\nLook again .* out_\w+ for “9999” with search_tool_output/);
  assert.equal(await c.page.evaluate(() => document.activeElement.id), 'composer-text');

  await mark(c).getByRole('link', { name: /Search for “9999”/ }).click();
  await c.page.waitForURL(/\/out\/out_\w+\?q=9999/);
  assert.match(await c.page.getByTestId('output-text').textContent(), /(^|\n)9999\n/);
});

it('who does not want the mark switches it off, and reads the line in Chinese', async ({ chat, provider }) => {
  provider.on('is 8888 there', ...runs('seq 1 20000', '输出里没有 `8888`。'));
  const c = await chat();
  await c.open();
  await c.ask('is 8888 there');
  await mark(c).waitFor();
  const address = c.page.url();
  await c.page.goto(new URL('/settings', address).href);
  await accessible(c.page, 'the settings');
  await c.page.locator('input[name=mark_absence]').uncheck();
  await c.page.locator('select[name=language]').selectOption('zh');
  await c.page.getByTestId('settings-form').locator('button.primary').click();
  await c.page.waitForURL(/done=saved/);
  await c.page.goto(address);
  await line(c).getByText(/此回答依据的是 seq 1 20000 共 108,894 字节中的 24,5\d\d 字节。/).waitFor();
  assert.equal(await mark(c).count(), 0);
  await c.page.goto(new URL('/settings', address).href);
  await c.page.locator('input[name=mark_absence]').check();
  await c.page.locator('select[name=language]').selectOption('');
  await c.page.getByTestId('settings-form').locator('button.primary').click();
  await c.page.waitForURL(/done=saved/);
});
