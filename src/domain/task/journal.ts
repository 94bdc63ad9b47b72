/** The field of a journal in which the store counts redrives; nobody else writes it. */
export const REDRIVES = 'redrives';
