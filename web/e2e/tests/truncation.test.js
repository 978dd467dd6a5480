// The page Truncation after real turns: a cut result that is read, the same
// command again, and a copy that is incomplete.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { suite } from '../harness/suite.js';
import { calls, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

const printed = 108894; // bytes of "seq 1 20000"

/** Runs the turns that the page is to count, once for all tests of the file. */
let counted;
function turns(app, provider) {
  counted ??= (async () => {
    provider.on('read later', calls(['run_command', { command: 'seq 1 20000' }]), calls(['list_files', { path: '.' }]), says('Long.'));
    provider.on('more than is kept', calls(['run_command', { command: "head -c 12000000 /dev/zero | tr '\\0' 'h' | fold -w 80" }]), says('Too long.'));
    const { id } = await app.session('read later');
    const [output] = await app.outputs(id);
    provider.on('and the rest', calls(['read_tool_output', { output_id: output.id, offset: 40000 }]),
      calls(['run_command', { command: 'seq 1 20000' }]), says('Read.'));
    await app.say(id, 'and the rest');
    await app.session('more than is kept');
    return (await app.api('GET', '/admin/truncation?by=tool')).items;
  })();
  return counted;
}

const rowOf = (page, tool) => page.locator(`[data-testid=truncation-row][data-tool="${tool}"]`);

it('says what was cut, read later, run again and lost', async ({ app, provider, visit }) => {
  await turns(app, provider);
  const page = await visit();
  await page.goto(`${app.url}/admin/truncation`);
  const cells = await rowOf(page, 'run_command').locator('td').allInnerTexts();
  const [results, truncated, , , consulted, reruns, incomplete, failed] = cells.map((text) => text.trim());
  assert.deepEqual({ results, truncated, consulted, reruns, incomplete, failed },
    { results: '3', truncated: '100 %', consulted: '33 %', reruns: '1', incomplete: '1', failed: '0' });
  const notices = await page.getByTestId('truncation-notice').allInnerTexts();
  assert.equal(notices.length, 1, 'a page that was asked for is no cut result');
  assert.match(notices[0], /tools\.run_command\.previewBytes/);
  assert.equal(await page.getByTestId('truncation-failed').count(), 0, 'no save failed');
});

it('the chart says its lines and stands below as a table', async ({ app, provider, visit }) => {
  await turns(app, provider);
  const page = await visit();
  await page.goto(`${app.url}/admin/truncation`);
  const chart = page.getByRole('img', { name: /truncated/i });
  await chart.waitFor();
  assert.equal(await chart.getAttribute('data-testid'), 'truncation-chart');
  await page.getByText('The same as a table').focus();
  await page.keyboard.press('Enter');
  const day = page.getByTestId('truncation-day');
  await day.first().waitFor();
  assert.equal(await day.count(), 1);
  assert.match(await day.innerText(), new RegExp(new Date().toISOString().slice(0, 10)));
});

it('is filtered by tool, model and period, and downloaded', async ({ app, provider, visit }) => {
  await turns(app, provider);
  const page = await visit();
  await page.goto(`${app.url}/admin/truncation`);
  await page.locator('[name=tool]').selectOption('list_files');
  await page.locator('[name=model]').selectOption('scripted');
  await page.getByLabel('Period').selectOption('1');
  await page.getByRole('search').getByRole('button').click();
  await page.waitForURL(/tool=list_files/);
  assert.deepEqual(await page.getByTestId('truncation-row').evaluateAll((rows) => rows.map((row) => row.dataset.tool)), ['list_files']);
  assert.equal(await page.locator('[name=tool]').inputValue(), 'list_files', 'the filter stays');

  const csv = async () => {
    const coming = page.waitForEvent('download');
    await page.getByTestId('truncation-csv').click();
    return (await readFile(await (await coming).path(), 'utf8')).trim().split(/\r?\n/);
  };
  const filtered = await csv();
  assert.ok(filtered.length > 1 && filtered.slice(1).every((line) => line.includes('list_files')), filtered.join('\n'));
  await page.getByRole('search').getByRole('link').first().click();
  await eventually(async () => await rowOf(page, 'run_command').count() === 1, 'the filter is not cleared');
  assert.ok((await csv()).some((line) => line.includes('run_command')));
});

for (const width of [360, 1280]) {
  for (const theme of ['light', 'dark']) {
    it(`is accessible, ${theme} and ${width} wide`, async ({ app, provider, visit }) => {
      const figures = await turns(app, provider);
      assert.ok(figures.find((f) => f.tool === 'run_command').hidden_bytes > printed);
      const page = await visit({ width, theme });
      for (const path of ['truncation', 'truncation?tool=none']) {
        await page.goto(`${app.url}/admin/${path}`);
        await page.locator('h1').waitFor();
        if (path === 'truncation') await page.getByText('The same as a table').click();
        await accessible(page, path);
        await noSidewaysScroll(page, path);
      }
    });
  }
}
