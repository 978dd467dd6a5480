import { setTimeout as sleep } from 'node:timers/promises';

/** How long something may take until it is seen, in ms. */
export const patience = Number(process.env.E2E_PATIENCE_MS ?? 15000);

/** Asks again until something holds; `complaint` is what the failure says. */
export async function eventually(holds, complaint, most = patience) {
  const end = Date.now() + most;
  for (;;) {
    let cause;
    try {
      if (await holds()) return;
    } catch (failure) {
      cause = failure;
    }
    if (Date.now() > end) throw new Error(typeof complaint === 'function' ? await complaint() : complaint, { cause });
    await sleep(25);
  }
}
