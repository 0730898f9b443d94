/** Names for the types of the HTTP interface, which are generated from its schema; and the few that it does not have. */

import type { components, operations } from "./generated";

type Schemas = components["schemas"];
/** The same, where some of it may be left out. */
type Without<T, K extends keyof T> = Omit<T, K> & Partial<Pick<T, K>>;

export type Language = string; // code of a language that has files of words
/** A text of the page's own words. */
export type Spoken = (language: Language) => string;
export type TextSide = "source" | "target";
/** "part": what axes show that is neither text, such as the patches of a vision tower. */
export type SideName = TextSide | "part" | "part2" | "part3";
export type RowSide = SideName | "written"; // "written": what each position of the target writes
export type Kind = "self" | "cross";
export type Stack = string; // "encoder" or "decoder"

export type ErrorResponse = Schemas["ErrorResponse"];

// recordings
export type RecordingEntry = Schemas["RecordingEntry"];
export type Description = Schemas["Description"];
export type SideDescription = Schemas["SideDescription"];
export type PictureDescription = Schemas["PictureDescription"];
export type SoundDescription = Schemas["SoundDescription"];
export type MapDescription = Schemas["MapDescription"];
export type HiddenDescription = Schemas["HiddenDescription"];
export type EvidenceDescription = Schemas["EvidenceDescription"];
export type Choice = Schemas["TokenChoice"];
export type StepDescription = Schemas["StepDescription"];
export type GenerationDescription = Schemas["GenerationDescription"];
export type OutputDescription = Schemas["OutputDescription"];
/** Each offset is the first character of a token and the one after its last. */
export type TokenSlice = Without<Omit<Schemas["TokenSlice"], "offsets">, "text"> & {
  readonly offsets: readonly (readonly [first: number, last: number])[] | null;
};

// metrics
export type MetricParameter = Schemas["MetricParameter"];
export type MetricDescription = Schemas["MetricDescription"];
export type ScorePart = Schemas["ScorePart"];
export type ScoreDescription = Schemas["ScoreDescription"];
export type DistributionOf =
  operations["read_distribution_api_recordings__id__distribution_get"]["parameters"]["query"]["of"];
export type Distribution = Without<Schemas["Distribution"], "whole">; // also made here, from numbers of the page

// models and jobs
export type About = Schemas["About"];
export type Session = Schemas["SessionDescription"];
export type Visibility = Schemas["VisibilityRequest"]["visibility"];
export type ModelDescription = Schemas["ModelDescription"];
export type EditRequest = Schemas["JobRequest"]["edits"][number];
export type DecodeRequest = Schemas["DecodeRequest"];
export type BranchRequest = Schemas["BranchRequest"];
export type BranchEntry = Schemas["BranchEntry"];
export type JobRequest = Without<Schemas["JobRequest"], "edits" | "listed">;
export type Job = Schemas["Job"];
export type OutcomeRequest = Partial<Schemas["OutcomeRequest"]>;
export type EffectsStep = Schemas["EffectsStep"];
export type PatchingStep = Schemas["PatchingStep"];
export type JobStage = Job["stage"];
export type Preset = Schemas["Preset"];
export type Wanted = NonNullable<Schemas["JobRequest"]["want"]>[number]; // what is recorded

// training runs
export type RunEntry = Schemas["RunEntry"];
export type RunMap = Schemas["RunMap"];
export type RunSeries = Schemas["RunSeries"];
export type SeriesByName = Schemas["SeriesByName"];
export type RunSamples = Schemas["RunSamples"];
export type SampledStep = Schemas["SampledStep"];
export type RunAlarm = Schemas["RunAlarm"];
export type RunEvent = Schemas["RunEvent"];
export type ProbeDescription = Schemas["ProbeDescription"];
export type RunDescription = Schemas["RunDescription"];

// training from the page
export type RecipeField = Schemas["RecipeField"];
export type RecipeTable = Schemas["RecipeTable"];
export type RecipeSchema = Schemas["RecipeSchema"];
export type ShippedRecipe = Schemas["ShippedRecipe"];
export type RunRecipe = Schemas["RunRecipe"];
export type DataFiles = Schemas["DataFiles"];
export type CheckedRecipe = Schemas["CheckedRecipe"];
export type Training = Schemas["Training"];
export type TrainingOverview = Schemas["TrainingOverview"];
// searches
export type SearchEntry = Schemas["SearchEntry"];
export type SearchDescription = Schemas["SearchDescription"];
export type SearchParameter = Schemas["SearchParameter"];
export type SearchEstimate = Schemas["SearchEstimate"];
export type SearchTrial = Schemas["SearchTrial"];

// atlases
export type AtlasEntry = Schemas["AtlasEntry"];
export type AtlasDescription = Schemas["AtlasDescription"];
export type AtlasHead = Schemas["AtlasHead"];
export type AtlasDetector = Schemas["DetectorDescription"];
export type AtlasInterval = Schemas["Interval"];
export type AtlasScore = Schemas["HeadScore"];
export type AtlasPair = Schemas["AtlasPair"];
export type AtlasPairs = Schemas["AtlasPairs"];

// the walk
export type WalkPlan = Schemas["WalkPlan"];
export type WalkStep = Schemas["Step"];
export type WalkAxis = WalkStep["axes"][number];
export type WalkBlock = Schemas["Block"];
export type CellArithmetic = Schemas["CellArithmetic"];
export type CellTerm = Schemas["Term"];

// the playground
export type PlayTopic = Schemas["Topic"];
export type PlayParameter = Schemas["Parameter"];
export type PlayValue = PlayParameter["default"];
export type PlayResult = Schemas["TopicResult"];
export type PlayRange = Schemas["Range"];
export type PlaySeries = Schemas["Series"];
export type PlayMatrix = Schemas["Matrix"];
export type PlayBars = Schemas["Bars"];
export type PlayLines = Schemas["Lines"];
export type PlayPoints = Schemas["Points"];
export type PlayTable = Schemas["Table"];
export type PlayNumbers = Schemas["Numbers"];
export type PlayFigure = PlayResult["figures"][number];

/** Where a live training stands: an event of its job. */
export interface PlayStep {
  readonly step: number;
  readonly loss: number;
  readonly rows: readonly (readonly number[])[]; // the output after this step
}
