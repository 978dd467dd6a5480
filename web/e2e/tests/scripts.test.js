// Scripts: the program and its calls in a card, and what is kept of each call.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { accessible } from '../harness/axe.js';
import { calls, says } from '../harness/provider.js';

const it = suite();
const script = (code, text = 'Done.') => [calls(['run_script', { code }]), says(text)];

const THREE = `// Three large results, one number.
const outputs = await Promise.all([1, 2, 3].map(n => tools.run_command({command: "seq " + n + " 3 60000"})));
return outputs.reduce((sum, o) => sum + o.total_bytes, 0);`;

it('a script that reads three large results returns one number, and a person opens each', async ({ chat, provider }) => {
  provider.on('three results', ...script(THREE, 'Together they have that many bytes.'));
  const c = await chat();
  await c.open();
  await c.ask('three results');
  const card = c.page.locator('[data-testid=tool-card][data-tool=run_script]');
  assert.equal(await card.getAttribute('data-state'), 'ok');
  assert.match(await card.locator('.tool-head').first().innerText(), /Ran a script\s*3 tool calls/);
  await card.locator('.tool-head').first().click();
  await card.getByText('Promise').first().waitFor();
  assert.match(await card.locator('.script-code').innerText(), /outputs\.reduce/);
  const rows = card.locator('[data-nested]');
  assert.equal(await rows.count(), 3);
  const sizes = [];
  for (let i = 0; i < 3; i++) {
    const row = rows.nth(i);
    assert.equal(await row.getAttribute('data-state'), 'ok');
    assert.match(await row.innerText(), new RegExp(`Ran\\s*seq ${i + 1} 3 60000`));
    assert.match(await row.innerText(), /exit 0/);
    assert.match(await row.innerText(), /unread/, 'the model saw none of it');
    await row.locator('.tool-head').click();
    const text = row.getByTestId('output-text');
    await text.waitFor();
    assert.ok((await text.textContent()).startsWith(`${i + 1}\n${i + 4}\n`));
    const trail = row.locator('nav.trail');
    assert.match(await trail.innerText(), /result of the script\s*output of seq \d 3 60000\s*[\d,]+ bytes kept/);
    sizes.push(Number((await trail.innerText()).match(/([\d,]+) bytes kept/)[1].replaceAll(',', '')));
    await row.getByTestId('output-last').click();
    await row.getByTestId('output-text').getByText(/\n5999\d\n|60000/).first().waitFor();
  }
  const number = sizes.reduce((a, b) => a + b);
  assert.match(await card.innerText(), new RegExp(`\\b${number}\\b`), 'the script returned their sum');
  await accessible(c.page, 'the card of a script with its outputs open');

  await rows.nth(1).locator('nav.trail a').nth(1).click();
  await c.page.waitForURL(/\/out\//);
  const crumb = c.page.locator('main nav.trail');
  assert.match(await crumb.innerText(), /result of the script\s*output of seq 2 3 60000/);
  await accessible(c.page, 'an output of a script');
  await crumb.locator('a').first().click();
  await c.page.waitForURL(/#t-/);
  await card.waitFor();
});

it('the calls of a script appear while it runs, and a person stops it', async ({ chat, provider }) => {
  provider.on('slow script', ...script('console.log("begun");\nawait tools.run_command({command: "echo quick"});\nawait tools.run_command({command: "sleep 60"});'));
  const c = await chat();
  await c.open();
  await c.say('slow script');
  const card = c.page.locator('[data-testid=tool-card][data-tool=run_script]');
  const rows = card.locator('[data-nested]');
  await rows.nth(1).and(c.page.locator('[data-state=running]')).waitFor();
  assert.equal(await rows.nth(0).getAttribute('data-state'), 'ok');
  assert.equal(await rows.count(), 2);
  await card.getByText('begun').first().waitFor();
  await c.page.reload();
  await rows.nth(1).and(c.page.locator('[data-state=running]')).waitFor();
  assert.equal(await rows.count(), 2, 'a page that is opened meanwhile has them too');
  await card.getByTestId('tool-stop').click();
  await card.and(c.page.locator('[data-state=stopped]')).waitFor();
});

it('a script that throws says where, and keeps what its calls returned', async ({ chat, provider }) => {
  provider.on('bad script', ...script('await tools.run_command({command: "seq 20000"});\nthrow new Error("<b>no</b>");'));
  const c = await chat();
  await c.open();
  await c.ask('bad script');
  const card = c.page.locator('[data-testid=tool-card][data-tool=run_script]');
  assert.equal(await card.getAttribute('data-state'), 'error');
  await c.unfold(card);
  await card.getByText('Error: <b>no</b> (line 2)').first().waitFor();
  await card.locator('[data-nested] .tool-head').click();
  await card.getByTestId('output-text').waitFor();
  await accessible(c.page, 'a script that threw');
});

it('the program and the names of files in it are text', async ({ chat, provider }) => {
  const hostile = 'console.log("<img src=x>"); // ``` </pre><script>alert(1)</script>\ntry { await tools.read_file({path: "<img src=x>"}) } catch {}';
  provider.on('hostile script', ...script(hostile));
  const c = await chat();
  await c.open();
  await c.ask('hostile script');
  const card = c.page.locator('[data-testid=tool-card][data-tool=run_script]');
  await card.locator('.tool-head').first().click();
  await card.locator('[data-nested]').waitFor();
  assert.match(await card.locator('.script-code').innerText(), /``` <\/pre><script>alert\(1\)<\/script>/);
  assert.equal(await card.locator('img').count(), 0);
});
