/** Kind of a text: it cannot replace a text of another kind. */
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
