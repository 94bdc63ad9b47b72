/** Field of a journal in which the store counts redrives; only the store writes it. */
export const REDRIVES = 'redrives';

/** Field of a run's journal that is set when the run has given up the group of this member. */
export function givenUpField(member: string): string {
  return `${GIVEN_UP}${member.slice(GROUP_AT, GROUP_AT + GROUP_CHARS)}`;
}

/** Ids of members begin with `~g.` and this many characters that identify their group. */
export const GROUP_CHARS = 22;
const GROUP_AT = '~g.'.length;
const GIVEN_UP = 'd:';
