// Dates in worksheets: numbers of days that only the look of their cell tells from other numbers.

const DAY_MS = 86_400_000
const DAYS_FROM_1900_TO_1904 = 1462

/** The built-in formats that show dates or times, and own formats that ask for years, months, days or hours. */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return (id >= 14 && id <= 22) || (id >= 45 && id <= 47)
  // Colours and currencies stand in brackets, words in quotes; neither is part of the pattern.
  return /[ymdhs]/i.test(code.replace(/\[[^\]]*\]|"[^"]*"|\\./g, ''))
}

/** The day, and the time of day where there is one; nothing, when the number stands for no day. */
export function toDateText(days: number, from1904: boolean): string | undefined {
  const from1900 = from1904 ? days + DAYS_FROM_1900_TO_1904 : days
  // Day 60 is a 29 February 1900 that never was: before it, the count is one short.
  const counted = from1900 < 60 ? from1900 + 1 : from1900
  const date = new Date(Date.UTC(1899, 11, 30) + Math.round(counted * DAY_MS))
  if (Number.isNaN(date.getTime()) || from1900 < 0 || date.getUTCFullYear() > 9999) return undefined
  const text = date.toISOString()
  return Number.isInteger(days) ? text.slice(0, 10) : text.slice(0, 19)
}
