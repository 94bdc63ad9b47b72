/** Mutants that no test kills, by name, and why that is no hole. */
export const SURVIVORS: Readonly<Record<string, string>> = {
  'Lua: the short path looks at no level but the first':
    'the search for the level has given up by then, at the second one that has work',
};
