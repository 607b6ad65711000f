// Tool calls of frameworks, in the words of `ahp`.

/** Judges a call before it is made; `tools` says which tool of the vocabulary a framework's tool is. */
export function before(engine, name, input, tools = {}) {
  const known = Object.hasOwn(tools, name) ? tools[name] : name;
  return engine.evaluate('pre-tool-use', { tool: known, input });
}

/** Returns why a call is stopped, where an input cannot be changed and nobody can be asked; undefined where it may go on. */
export function objection(verdict, input) {
  if (verdict.stops) return verdict.message;
  const wanted = JSON.stringify(verdict.modifiedInput);
  if (verdict.modifiedInput === undefined || wanted === JSON.stringify(input)) return undefined;
  return [verdict.message, `Call it again with this input: ${wanted}`].filter(Boolean).join('\n\n');
}
