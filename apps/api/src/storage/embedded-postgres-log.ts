// Keeps out of the service's log what Postgres says about single statements: whoever sent one is told already.

/** The setting log_line_prefix: each line begins with the kind of process that wrote it. */
export const LOG_LINE_PREFIX = '%b: '

// These lines may quote what tenants store, which has no place in a log.
const STATEMENT_FAILURE = /^client backend: (ERROR|DETAIL|HINT|CONTEXT|QUERY|STATEMENT): /

export function withoutStatementFailures(log: (line: string) => void): (line: string) => void {
  let isHidden = false
  return (line) => {
    const isContinued = line.startsWith('\t')
    if (!isContinued) isHidden = STATEMENT_FAILURE.test(line)
    if (!isHidden) log(line)
  }
}
