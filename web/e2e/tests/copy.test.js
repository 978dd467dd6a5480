import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { says } from '../harness/provider.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

/** Pastes into the composer what a copy button leaves on the clipboard, once that is as wanted. */
async function pastes(c, wanted) {
  let text;
  await eventually(async () => {
    await c.box.fill('');
    await c.box.press('ControlOrMeta+V');
    text = await c.box.inputValue();
    return wanted.test(text);
  }, () => `pasted was ${JSON.stringify(text)}`);
}

for (const [name, host] of [['a secure origin', '127.0.0.1'], ['a plain address of the local network', 'offcut.test']]) {
  it(`answers and code can be copied on ${name}`, async ({ app, chat, provider }) => {
    provider.on('give me code', says('Here:\n\n```sh\necho copied words\n```\n'));
    const session = await app.session('give me code');
    const c = await chat({ via: `http://${host}:${app.port}` });
    await c.open(session.id);
    assert.equal(await c.page.evaluate(() => isSecureContext), host === '127.0.0.1');
    await c.answer.locator('.part').getByRole('button', { name: /copy/i }).first().click();
    await pastes(c, /^echo copied words\s*$/);
    await c.answer.getByRole('button', { name: /^copy$|copy (this )?(answer|message)/i }).last().click();
    await pastes(c, /Here:[\s\S]*echo copied words/);
  }, { allow: [/Cross-Origin-Opener-Policy header has been ignored/] });
}
