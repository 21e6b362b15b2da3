/** Says now and then how far something is that takes long; `every` is how often. */
export function reportProgress(what, made, { total, every }) {
  if (made === 0 || made % every !== 0) return;
  process.stderr.write(`${made.toLocaleString("en")} of ${total.toLocaleString("en")} ${what} made …\n`);
}
