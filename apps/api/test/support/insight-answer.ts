// What a model answers when it is asked for an insight and does well.

export const insightAnswer = {
  insight: 'She saves for a house',
  type: 'life event',
  timeliness: 'soon',
  actions: 'offer a mortgage',
  argument_thinking: 'she asked about rates',
  argument: 'Rates are low',
  argument_content: 'Dear Ada, rates are low',
  best_channel: 'e-mail',
  best_time: 'evening',
}
