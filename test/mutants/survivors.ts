/** Mutants that no test kills, by name, and why that is no hole. */
export const SURVIVORS: Readonly<Record<string, string>> = {};
