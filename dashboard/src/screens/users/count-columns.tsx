/** How many tasks of a user are where, as tables of users say it. */
import type { UserRow } from '../../api/shapes.ts';
import type { Column } from '../../parts/data-table.tsx';
import { countText } from '../../words/numbers.ts';

/** Those that may take a turn. */
export const IN_LINE: Column<UserRow> = {
  key: 'wait',
  title: 'In line',
  isNumber: true,
  label: 'in line',
  cell: ({ queued }) => countText(queued),
};

/** Those that wait for a moment, or for others. */
export const LATER: Column<UserRow> = {
  key: 'later',
  title: 'Later',
  isNumber: true,
  label: 'later',
  cell: ({ later }) => countText(later),
};
