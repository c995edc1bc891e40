// Times as RFC 3339 texts. Of those written in one second only the milliseconds differ, so the rest is written once.

let second = Number.NaN
let upToSecond = ''

export function isoTime(ms: number): string {
  const floor = Math.floor(ms / 1000)
  if (floor !== second) {
    second = floor
    upToSecond = new Date(floor * 1000).toISOString().slice(0, -4)
  }
  const rest = ms - floor * 1000
  return `${upToSecond}${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}Z`
}
