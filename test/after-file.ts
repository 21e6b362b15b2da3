type Ending = () => unknown;

const endings: Ending[] = [];

/** Like `afterAll`, which does nothing where it is called by a test or a hook. */
export function afterFile(ending: Ending): void {
  endings.push(ending);
}

/** The last first, as each may rest on those before. */
export async function endFile(): Promise<void> {
  for (let ending = endings.pop(); ending !== undefined; ending = endings.pop()) await ending();
}
