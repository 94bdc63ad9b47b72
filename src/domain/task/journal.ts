/** The field of a journal in which the store, and nothing else, counts redrives. */
export const REDRIVES = 'redrives';

/** The field of a run's journal that is set once the run has given up the group of this member. */
export function givenUpField(member: string): string {
  return `${GIVEN_UP}${member.slice(GROUP_AT, GROUP_AT + GROUP_CHARS)}`;
}

/** Ids of members begin with `~g.` and so many characters that stand for their group. */
export const GROUP_CHARS = 22;
const GROUP_AT = '~g.'.length;
const GIVEN_UP = 'd:';
