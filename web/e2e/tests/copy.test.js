import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { says } from '../harness/provider.js';

const it = suite();

/** Pastes into the composer what a copy button left on the clipboard. */
async function pasted(c) {
  await c.box.fill('');
  await c.box.press('ControlOrMeta+V');
  return c.box.inputValue();
}

for (const [name, host] of [['a secure origin', '127.0.0.1'], ['a plain address of the local network', 'offcut.test']]) {
  it(`answers and code can be copied on ${name}`, async ({ app, chat, provider }) => {
    provider.on('give me code', says('Here:\n\n```sh\necho copied words\n```\n'));
    const session = await app.session('give me code');
    const c = await chat({ via: `http://${host}:${app.port}` });
    await c.open(session.id);
    assert.equal(await c.page.evaluate(() => isSecureContext), host === '127.0.0.1');
    await c.answer.locator('.part').getByRole('button', { name: /copy/i }).first().click();
    assert.equal((await pasted(c)).trim(), 'echo copied words');
    await c.answer.getByRole('button', { name: /^copy$|copy (this )?(answer|message)/i }).last().click();
    assert.match(await pasted(c), /Here:[\s\S]*echo copied words/);
  }, { allow: [/Cross-Origin-Opener-Policy header has been ignored/] });
}
