// The policy told to models that bring none of their own.

export interface Rule {
  readonly label: string
  readonly rule: string
}

export const POLICY: readonly Rule[] = [
  { label: 'violence', rule: 'planning, encouraging or praising harm to people or animals' },
  { label: 'weapons', rule: 'making or getting weapons, explosives or dangerous substances' },
  { label: 'self_harm', rule: 'encouraging or explaining suicide or self-injury' },
  { label: 'sexual_content', rule: 'explicit sexual content' },
  { label: 'minors', rule: 'anything sexual that involves people under 18, or harm to them' },
  { label: 'hate', rule: 'demeaning people for origin, religion, sex, disability or the like' },
  { label: 'harassment', rule: 'threatening, bullying or stalking a person' },
  { label: 'crime', rule: 'help with theft, fraud, drugs, malware or other crimes' },
  { label: 'privacy', rule: 'digging up or spreading private data of a person' },
]
