import type { AskInfo } from '../../client/facades/asks-facade.ts';
import { encryptedWords } from '../../domain/task/sealed-text.ts';
import { shownMoment } from '../terminal/moments.ts';
import type { View } from '../terminal/output.ts';
import { cellText } from '../terminal/text-table.ts';
import { rows, type ShownBy, thing } from '../views/shown.ts';

/** `fairloom asks …` */
export const ASKS: ShownBy = {
  ...rows('asks.list', askView),
  ...thing(
    'asks.answer',
    ({ id, choice, by }) => ({ id, text: [`${by} has answered ${choice}`] }),
    { needs: { by: true } },
  ),
};

function titleOf({ title = '', encryptedWith }: AskInfo): string {
  return encryptedWith === undefined ? cellText(title) : encryptedWords(encryptedWith);
}

/** With moments as seen from `now` (ms since the epoch). */
function askView(now: number): View<AskInfo> {
  return {
    columns: () => [
      { title: 'ID', cell: ({ id }) => cellText(id) },
      { title: 'TITLE', cell: titleOf },
      { title: 'CHOICES', cell: ({ choices }) => choices.join(', ') },
      { title: 'FOR', cell: ({ for: names }) => cellText(names.join(', ')) },
      { title: 'USER', cell: ({ user }) => cellText(user) },
      { title: 'ASKED', cell: ({ askedAt }) => shownMoment(askedAt, now) },
      {
        title: 'UNTIL',
        cell: ({ until }) => (until === undefined ? '' : shownMoment(until, now)),
      },
    ],
    json: (ask) => ask,
    id: ({ id }) => id,
    none: 'no open questions',
  };
}
