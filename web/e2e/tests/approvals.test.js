// Calls that somebody has to allow before they run.

import assert from 'node:assert/strict';
import { sends, suite } from '../harness/suite.js';
import { calls, runs, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { eventually } from '../harness/eventually.js';
import { hideTab, notices } from '../harness/hidden.js';

const it = suite({ env: { OFFCUT_APPROVAL: 'ask' } });

/** What waits on a page. */
function asked(c) {
  const block = c.page.getByTestId('approval');
  return {
    block,
    once: block.getByTestId('approve-once'),
    session: block.getByTestId('approve-session'),
    deny: block.getByTestId('deny'),
  };
}

it('a command waits, shows what it is, and runs once allowed', async ({ chat, provider, app }) => {
  provider.on('greet', ...runs('echo hello'));
  const c = await chat();
  await c.open();
  assert.match(await c.page.getByTestId('policy').innerText(), /Asks before each command/);
  await c.say('greet');
  const { block, once, session, deny } = asked(c);
  await block.waitFor();
  const text = await block.innerText();
  assert.match(text, /Run this command\?/);
  assert.match(text, /run_command/);
  assert.match(text, new RegExp(`workspaces/[^/]+/${c.sessionID}`), 'the folder is named');
  assert.equal(await block.locator('.term').textContent(), 'echo hello', 'the command, byte for byte');
  assert.ok(await session.isVisible() && await deny.isVisible());
  await c.card.and(c.page.locator('[data-state=waiting]')).waitFor();
  await eventually(async () => /^Approval needed:/.test(await c.page.title()), 'the title does not say that something waits');
  await eventually(async () => /approval is needed.*echo hello/.test(await c.page.locator('#sr').textContent()), 'nobody who listens is told');
  assert.equal(await c.answer.getAttribute('aria-busy'), null, 'what is busy is not read out');
  await once.click();
  await c.settled();
  assert.equal(await block.count(), 0);
  assert.equal(await c.card.getAttribute('data-state'), 'ok');
  assert.ok(!(await c.page.title()).includes('Approval'));
  await c.unfold();
  assert.match(await c.card.innerText(), /approved/);
  const [result] = (await app.messages(c.sessionID)).filter((m) => m.role === 'tool');
  assert.equal(result.metadata.approved, true);
});

it('a denied call is shown as denied, and the model is told', async ({ chat, provider }) => {
  provider.on('remove all', calls(['run_command', { command: 'rm -rf .' }]), says('Then I leave it.'));
  const c = await chat();
  await c.open();
  await c.say('remove all');
  await asked(c).deny.click();
  await c.settled();
  assert.equal(await c.card.getAttribute('data-state'), 'denied');
  assert.match(await c.card.innerText(), /denied/);
  const told = provider.sent('remove all').at(-1).messages.at(-1).content;
  assert.match(told, /"approved":false/);
  assert.match(told, /denied it: run_command was not run/);
});

it('what waits is there after a reload, in a second tab, and after a restart', async ({ chat, visit, provider, app }) => {
  provider.on('wait for me', ...runs('echo once >>ran; cat ran'));
  const c = await chat();
  await c.open();
  await c.say('wait for me');
  await asked(c).block.waitFor();
  const html = await (await c.page.request.get(c.page.url())).text();
  assert.match(html, /data-testid="approval"/, 'it is in the page that the server makes');
  assert.match(html, /<title>Approval needed:/);
  await c.page.reload();
  await asked(c).block.waitFor();
  const second = await chat({ beside: c.page });
  await second.open(c.sessionID);
  await asked(second).block.waitFor();

  await app.kill();
  await app.launch();
  await c.page.reload();
  await asked(c).block.waitFor();
  await asked(c).once.click();
  await c.settled();
  await second.settled();
  assert.equal(await asked(second).block.count(), 0, 'the second tab knows that it was decided');
  await c.unfold();
  assert.equal((await c.preview.allTextContents()).join(''), 'once\n', 'it ran once');
}, { allow: [/WebSocket|ws:error|ERR_CONNECTION_REFUSED|Failed to (load|fetch)/] });

it('what the second tab answered is gone from the first, where it was looked at', async ({ chat, provider }) => {
  provider.on('in two tabs', calls(['run_command', { command: 'echo 1' }], ['run_command', { command: 'echo 2' }]), says('Done.'));
  const c = await chat();
  await c.open();
  await c.say('in two tabs');
  await eventually(async () => await asked(c).block.count() === 2, 'both calls are asked about');
  await asked(c).once.first().focus();
  const second = await chat({ beside: c.page });
  await second.open(c.sessionID);
  await asked(second).once.first().click();
  await eventually(async () => await asked(c).block.count() === 1, 'the answered one stays');
  await eventually(() => asked(c).once.evaluate((button) => button === document.activeElement), 'the focus goes on to the next');
  await asked(c).once.click();
  await c.settled();
  await eventually(() => c.box.evaluate((box) => box === document.activeElement), 'and then to the composer');
});

it('it is answered by the keyboard alone', async ({ chat, provider }) => {
  provider.on('by keys', ...runs('echo keys'));
  const c = await chat();
  await c.open();
  await c.say('by keys');
  await asked(c).block.waitFor();
  await c.page.locator('#log').focus();
  await c.page.keyboard.press('a');
  assert.ok(await asked(c).once.evaluate((button) => button === document.activeElement));
  await c.page.keyboard.press('Tab');
  await c.page.keyboard.press('Tab');
  assert.ok(await asked(c).deny.evaluate((button) => button === document.activeElement));
  await c.page.keyboard.press('Enter');
  await c.settled();
  assert.equal(await c.card.getAttribute('data-state'), 'denied');
});

it('a tool that is allowed for the session asks no more, until it is to', async ({ chat, provider }) => {
  provider.on('the first', ...runs('echo 1'));
  provider.on('the second', ...runs('echo 2'));
  provider.on('the third', ...runs('echo 3'));
  const c = await chat();
  await c.open();
  await c.say('the first');
  await asked(c).session.click();
  await c.settled();
  await c.page.locator('#grants').getByText('run_command').waitFor();
  await c.ask('the second');
  await c.page.reload();
  await c.page.getByTestId('revoke').click();
  await eventually(async () => await c.page.getByTestId('revoke').count() === 0, 'it is still allowed');
  await c.say('the third');
  await asked(c).deny.click();
  await c.settled('done', 3);
});

it('stop ends the wait', async ({ chat, provider }) => {
  provider.on('never mind', ...runs('echo no'));
  const c = await chat();
  await c.open();
  await c.say('never mind');
  await asked(c).block.waitFor();
  await c.stop.click();
  await c.settled('stopped');
  assert.equal(await asked(c).block.count(), 0);
  assert.equal(await c.card.getAttribute('data-state'), 'stopped');
});

it('nothing of a call can hide, and a long one is shown whole on demand', async ({ chat, provider }) => {
  const hostile = 'echo safe # \u202e;mr\u200b <img src=x onerror=alert(1)>\u2066';
  const long = `echo ${'x'.repeat(9000)} && echo the end`;
  provider.on('trick me', calls(['run_command', { command: hostile, timeout_s: 7 }]), calls(['run_command', { command: long }]), says('Done.'));
  const c = await chat();
  await c.open();
  await c.say('trick me');
  const { block, deny } = asked(c);
  await block.waitFor();
  assert.equal(await block.locator('.term').textContent(), hostile);
  const pictures = await block.locator('.ctl').evaluateAll((all) => all.map((one) => one.dataset.pic));
  assert.deepEqual(pictures, ['U+202E', 'U+200B', 'U+2066']);
  assert.equal(await block.locator('img').count(), 0);
  assert.match(await block.innerText(), /"timeout_s":7/);
  await deny.click();
  await block.getByTestId('show-all').waitFor();
  assert.ok(!(await block.locator('.term').textContent()).includes('the end'));
  assert.match(await block.innerText(), /1 line in all\. It ends with:\s+x+ && echo the end/);
  await block.getByTestId('show-all').click();
  await eventually(async () => await block.locator('.term').textContent() === long, 'the whole command never came');
  await deny.click();
  await c.settled();
});

it('what stands far down in a command is told of above the buttons', async ({ chat, provider }) => {
  provider.on('look around', ...runs(`echo hello${'\n'.repeat(60)}rm -rf important`));
  const c = await chat();
  await c.open();
  await c.say('look around');
  const { block, deny } = asked(c);
  await block.getByText('61 lines in all').waitFor();
  assert.match(await block.innerText(), /They end with:\s+rm -rf important/);
  await deny.click();
  await c.settled();
});

it('a change shows what the file would lose and get', async ({ chat, provider }) => {
  provider.on('write and edit', calls(['write_file', { path: 'notes.txt', content: 'alpha\nbeta\n' }], ['edit_file', { path: 'notes.txt', old_string: 'beta', new_string: 'gamma' }]), says('Done.'));
  const c = await chat();
  await c.open();
  await c.say('write and edit');
  const { block, once } = asked(c);
  await eventually(async () => await block.count() === 2, 'both are asked about');
  assert.match(await block.first().innerText(), /Change this file\?[\s\S]*notes\.txt/);
  assert.deepEqual(await block.first().locator('tr.add td:last-child').allTextContents(), ['alpha', 'beta']);
  assert.deepEqual(await block.last().locator('tr.del td:last-child').allTextContents(), ['beta']);
  assert.deepEqual(await block.last().locator('tr.add td:last-child').allTextContents(), ['gamma']);
  await once.first().click();
  await eventually(async () => await block.count() === 1, 'the first is answered');
  await once.click();
  await c.settled();
});

it('without scripts it is answered by a form', async ({ app, visit, provider }) => {
  provider.on('no scripts', ...runs('echo plain'));
  const session = await app.session();
  await app.api('POST', `/sessions/${session.id}/messages`, { content: 'no scripts' });
  const page = await visit({ javaScriptEnabled: false });
  await eventually(async () => {
    await page.goto(`${app.url}/s/${session.id}`);
    return await page.getByTestId('approval').count() === 1;
  }, 'nothing waits');
  await sends(page, () => page.getByTestId('approve-once').click());
  await eventually(async () => {
    await page.goto(`${app.url}/s/${session.id}`);
    return await page.locator('[data-testid=tool-card][data-state=ok]').count() === 1;
  }, 'it does not run');
});

it('an administrator sees what waits in another\'s session, and cannot decide', async ({ app, visit, provider }) => {
  provider.on('of somebody else', ...runs('echo theirs'));
  await app.addUser('ann');
  const token = await app.token('ann');
  const session = await app.session('', token);
  await app.api('POST', `/sessions/${session.id}/messages`, { content: 'of somebody else' }, token);
  const page = await visit();
  await page.goto(`${app.url}/s/${session.id}`);
  await page.getByTestId('approval').waitFor();
  assert.equal(await page.getByTestId('approve-once').count(), 0);
  assert.match(await page.getByTestId('approval').innerText(), /Only the session’s owner decides/);
});

for (const look of [{ width: 1280, theme: 'light' }, { width: 360, theme: 'dark' }]) {
  it(`what waits is accessible: ${look.width} px, ${look.theme}`, async ({ chat, provider }) => {
    provider.on('look at it', calls(['run_command', { command: 'seq 1 10' }], ['edit_file', { path: 'a', old_string: 'one\ntwo', new_string: 'three' }]), says('Done.'));
    const c = await chat(look);
    await c.open();
    await c.say('look at it');
    await eventually(async () => await asked(c).block.count() === 2, 'both are asked about');
    await accessible(c.page, 'what waits');
    await noSidewaysScroll(c.page, 'what waits');
    await asked(c).session.first().click();
    await asked(c).block.getByText('Change this file?').waitFor();
    await c.page.locator('#grants code').waitFor({ state: 'attached' });
    await accessible(c.page, 'what is allowed');
    await c.stop.click();
    await c.settled('stopped');
  });
}

it('a hidden tab tells that something waits for a decision', async ({ app, chat, provider, visit }) => {
  provider.on('ask in a hidden tab', says('At once.'), ...runs('echo hidden'));
  await app.addUser('remy');
  const settings = await visit({ as: 'remy', permissions: ['notifications'] });
  await settings.goto(`${app.url}/settings`);
  await settings.locator('[name=notify]').check();
  await settings.getByTestId('settings-form').getByRole('button').click();
  await settings.getByTestId('form-done').waitFor();
  const c = await chat({ as: 'remy' });
  await c.open();
  await c.ask('ask in a hidden tab');
  await hideTab(c.page);
  await c.say('ask in a hidden tab, once more');
  await asked(c).block.waitFor();
  await eventually(async () => (await notices(c.page)).length > 0, 'no notice comes');
  assert.match((await notices(c.page))[0], /A tool waits for your approval/);
});

it('who comes too late is told what was decided, and asked no more', async ({ app, chat, provider }) => {
  provider.on('too late', ...runs('echo late'));
  const c = await chat();
  let deaf = false; // the live connection brings nothing more
  await c.page.routeWebSocket(/\/ws\//, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => { if (!deaf) socket.send(message); });
  });
  await c.open();
  await c.say('too late');
  await asked(c).block.waitFor();
  const call_id = await asked(c).block.getAttribute('data-call');
  const turn = (await asked(c).block.getAttribute('action')).match(/turns\/([^/]+)/)[1];
  deaf = true;
  await app.api('POST', `/turns/${turn}/approvals`, { call_id, decision: 'deny' });
  await asked(c).once.click();
  await c.page.getByText('This call was decided before: it was denied; nothing was changed.').waitFor();
  assert.equal(await asked(c).block.count(), 0, 'there is nothing left to decide');
  await c.page.reload();
  await c.settled();
  assert.equal(await c.card.getAttribute('data-state'), 'denied');
}, { allow: [/409/] });

it('what is pushed can be sent without the header of scripts', async ({ chat, provider }) => {
  provider.on('plain form', ...runs('echo plain'));
  const c = await chat();
  await c.open();
  await c.say('plain form');
  await asked(c).block.waitFor();
  const status = await asked(c).block.evaluate(async (form) => {
    const fields = new URLSearchParams(new FormData(form, form.querySelector('[value="once"]')));
    return (await fetch(form.action, { method: 'POST', body: fields })).status;
  });
  assert.equal(status, 200);
  await c.settled();
  assert.equal(await c.card.getAttribute('data-state'), 'ok');
});

it('the calls of a script wait in their order, and a stop shows that none ran', async ({ chat, provider }) => {
  const code = 'await Promise.all([1, 2, 3].map(n => tools.write_file({path: "f" + n, content: "x"})));';
  provider.on('three writes', calls(['run_script', { code }]), says('Never.'));
  const c = await chat();
  await c.open();
  await c.say('three writes');
  await asked(c).once.click();
  const card = c.page.locator('[data-testid=tool-card][data-tool=run_script]');
  const rows = card.locator('[data-nested]');
  await rows.nth(2).and(c.page.locator('[data-state=waiting]')).waitFor();
  for (let i = 0; i < 3; i++) assert.match(await rows.nth(i).innerText(), new RegExp(`f${i + 1}`));
  await c.page.getByTestId('stop').click();
  await card.and(c.page.locator('[data-state=stopped]')).waitFor();
  await c.unfold(card);
  await rows.nth(2).and(c.page.locator('[data-state=stopped]')).waitFor();
  for (let i = 0; i < 3; i++) assert.match(await rows.nth(i).innerText(), /Write\s*f\d\s*not started/);
  await card.getByText('3 did not run and had no effect').first().waitFor();
});
