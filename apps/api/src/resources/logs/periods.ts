// Cuts a period into whole days, whole hours and the ragged rest, so that little has to be counted log by log.

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export interface Piece {
  /** Where it is counted: in the sums of days or hours, or log by log. */
  readonly grain: 'day' | 'hour' | 'log'
  /** Milliseconds since 1970; infinite where the period is open. */
  readonly from: number
  /** Just after its end. */
  readonly to: number
}

/** `from` belongs to the period, `to` does not. The pieces touch, do not overlap, and cover it exactly. */
export function piecesOf(from: number, to: number): Piece[] {
  if (!(from < to)) return []
  const firstHour = ceilTo(from, HOUR_MS)
  const lastHour = floorTo(to, HOUR_MS)
  if (firstHour >= lastHour) return [{ grain: 'log', from, to }]
  const firstDay = ceilTo(from, DAY_MS)
  const lastDay = floorTo(to, DAY_MS)
  const whole: Piece[] =
    firstDay < lastDay
      ? [
          { grain: 'hour', from: firstHour, to: firstDay },
          { grain: 'day', from: firstDay, to: lastDay },
          { grain: 'hour', from: lastDay, to: lastHour },
        ]
      : [{ grain: 'hour', from: firstHour, to: lastHour }]
  const all: Piece[] = [{ grain: 'log', from, to: firstHour }, ...whole, { grain: 'log', from: lastHour, to }]
  return all.filter((piece) => piece.from < piece.to)
}

/** The first millisecond that is not before the given point in time; logs are dated in whole ones. */
export const startOf = (text: string): number => Date.parse(text) + (/\.\d{3}\d*[1-9]/.test(text) ? 1 : 0)

/** Just after the given point in time, which itself still counts. */
export const endOf = (text: string): number => Date.parse(text) + 1

// Infinity divides into itself, and stays what it is.
const floorTo = (ms: number, step: number): number => (Number.isFinite(ms) ? Math.floor(ms / step) * step : ms)
const ceilTo = (ms: number, step: number): number => (Number.isFinite(ms) ? Math.ceil(ms / step) * step : ms)
