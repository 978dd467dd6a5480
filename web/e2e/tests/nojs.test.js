// Without scripts the pages are plain pages: one can sign in, read, send and page.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { runs } from '../harness/provider.js';
import { Pager } from '../harness/chat.js';
import { password } from '../harness/offcut.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

it('sign-in, sending, reading and paging work without scripts', async ({ app, visit, provider }) => {
  provider.on('without scripts', ...runs('seq 1 100000', 'Counted.'));
  await app.addUser('lena');
  const page = await visit({ as: null, javaScriptEnabled: false });
  await page.goto(`${app.url}/login`);
  await page.fill('[name=name]', 'lena');
  await page.fill('[name=password]', password);
  await page.click('form button:not([type=button])');
  await page.locator('#composer textarea').fill('without scripts');
  await page.getByTestId('send').click();
  await page.waitForURL(/\/s\//);
  const answer = page.locator('[data-testid=message][data-role=assistant]');
  await eventually(async () => {
    await page.reload();
    return await answer.count() === 1 && await answer.getAttribute('data-state') === 'done';
  }, 'the answer does not come');
  assert.match(await answer.innerText(), /Counted\./);
  const token = await app.token('lena');
  const session = new URL(page.url()).pathname.split('/').pop();
  const [output] = (await app.api('GET', `/sessions/${session}/outputs`, undefined, token)).items;
  await page.goto(`${app.url}/s/${session}/out/${output.id}`);
  const pager = new Pager(page);
  assert.match(await pager.content(), /^1\n2\n3\n/);
  await pager.turn(() => pager.last.click());
  assert.match(await pager.content(), /100000\n$/);
  await pager.search.fill('77777');
  await pager.search.press('Enter');
  await page.locator('.hits a').first().click();
  await eventually(async () => (await pager.content()).includes('77777\n'), 'the page with the hit never came');
});
