// How a page keeps pace with what comes: its long tasks, its frames, what it holds.

/** Notes the tasks of the page that are longer than 50 ms, from now on. */
export async function watchTasks(page) {
  await page.evaluate(() => {
    globalThis.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) globalThis.longTasks.push({ at: startTime, duration });
    }).observe({ type: 'longtask' });
  });
}

/** The longest of them in ms, and how much the first and the second half of the time took. */
export async function tasks(page) {
  return page.evaluate(() => {
    const all = globalThis.longTasks;
    const middle = all.length ? (all[0].at + performance.now()) / 2 : 0;
    const sum = (of) => of.reduce((ms, task) => ms + task.duration, 0);
    return {
      longest: Math.max(0, ...all.map((task) => task.duration)),
      halves: [sum(all.filter((task) => task.at < middle)), sum(all.filter((task) => task.at >= middle))],
    };
  });
}

/** Counts the frames that the page draws until `until` has come, and the longest wait for one, in ms. */
export async function frames(page, until) {
  await page.evaluate(() => {
    globalThis.drawn = { count: 0, worst: 0, began: performance.now() };
    let last = performance.now();
    const next = () => {
      const now = performance.now();
      globalThis.drawn.worst = Math.max(globalThis.drawn.worst, now - last);
      globalThis.drawn.count += 1;
      last = now;
      globalThis.drawn.next = requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  await until();
  return page.evaluate(() => {
    cancelAnimationFrame(globalThis.drawn.next);
    const { count, worst, began } = globalThis.drawn;
    return { rate: (1000 * count) / (performance.now() - began), worst };
  });
}

/** What the page holds: its elements, the characters of its text, and its heap in bytes. */
export async function holds(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  const counts = await page.evaluate(() => ({
    elements: document.querySelectorAll('*').length, text: document.body.textContent.length,
  }));
  return { ...counts, heap: usedSize };
}
