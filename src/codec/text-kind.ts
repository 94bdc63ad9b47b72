/** What a text is: one of a kind cannot be put in the place of another. */
export type TextKind =
  | 'input'
  | 'result'
  | 'error'
  | 'reason'
  | 'channel'
  | 'xcom'
  | 'stream'
  | 'journal'
  | 'schedule'
  | 'signal'
  | 'ask'
  | 'ask-answer'
  | 'graph';
