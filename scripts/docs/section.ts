/** A generated section of a page: from the line `start` to the line `end`. */
export interface Section {
  readonly start: string;
  readonly end: string;
  /** The text between them, with the end of its last line. */
  readonly text: string;
}

/** The page with that section replaced; @throws when the page has no such lines. */
export function withSection(page: string, { start, end, text }: Section): string {
  const [before, rest] = page.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`the page must have ${start} and ${end}`);
  return `${before}${start}\n\n${text}\n${end}${after}`;
}
