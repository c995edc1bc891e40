// What passes between the service and a trainer process: the job it is given and what it tells while it works.
import type { DataFile } from './data/faults.ts'
import type { Format } from './data/source-file.ts'
import type { EvaluationResult } from './evaluate-model.ts'
import type { CheckpointFiles } from './model.ts'
import type { Round } from './round.ts'

interface Job {
  files: DataFile[]
  format: Format
  /** An existing folder; checkpoints are left there, and nothing else remains. */
  outputFolder: string
  threads: number
  memoryBytes: number
}

export interface TrainJob extends Job {
  kind: 'train'
  architecture: string
  configuration: unknown
}

export interface EvaluateJob extends Job {
  kind: 'evaluate'
  checkpoint: CheckpointFiles
}

export type TrainerJob = TrainJob | EvaluateJob

export interface Checkpoint extends CheckpointFiles {
  step: number
  sha256: string
  encodingSha256: string
  metrics: Omit<Round, 'step' | 'total_steps'>
}

export interface TrainingResult {
  steps: number
  best: Round
  train_rows: number
  test_rows: number
  rows_without_target: number
}

export type TrainerResult<J extends TrainerJob> = J extends TrainJob ? TrainingResult : EvaluationResult

export type TrainerMessage =
  | ({ type: 'round' } & Round)
  | ({ type: 'checkpoint' } & Checkpoint)
  | { type: 'done'; result: TrainingResult | EvaluationResult }
  | { type: 'failed'; reason: string; isProblem: boolean; detail?: string }

/** The first message gives the job and a folder for what is half done; the second kind ends it. */
export type TrainerCommand = { type: 'start'; job: TrainerJob; scratchFolder: string } | { type: 'cancel' }
