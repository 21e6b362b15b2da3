/**
 * A function that makes so many decisions one after the other. Each contestant gets code of its own, as a
 * shared loop would be compiled for all of them at once and slow down the fastest; those that answer at
 * once are not made to wait. The answers are added up so that none can be optimised away.
 */
export function repeating(decide, isAsync, contexts) {
  const source = `
    let position = 0;
    return ${isAsync ? "async" : ""} (count) => {
      let length = 0;
      for (let made = 0; made < count; made++) {
        length += (${isAsync ? "await" : ""} decide(contexts[position])).length;
        position = position + 1 === contexts.length ? 0 : position + 1;
      }
      return length;
    };`;
  return new Function("decide", "contexts", source)(decide, contexts);
}
