// Generated from the types of internal/report by go test ./internal/web -run Types -update; not to be edited.

/** Whole nanoseconds, exact up to 104 days. */
export type Ns = number & { readonly unit?: "ns" };
/** Whole numbers in base64: how many bytes each has, the lowest of each, the next of each, ... */
export type Column = string;

export interface Answered {
  status: number;
  count: number;
}

export interface Blocker {
  tid: number;
  name: string;
  blocks: number;
  deadlock?: boolean;
  waiting: Waiters[];
}

export interface Bracket {
  low_ns: Ns;
  high_ns: Ns;
}

export interface CallGroup {
  peer: string;
  operation: string;
  count: number;
  associated_share: number;
  new_connection_share: number;
  new_connections?: NewConnections;
  p50_ns: Ns;
  p99_ns: Ns;
  max_ns: Ns;
  time_share: number;
  phases: Phases;
}

export interface CauseRow {
  phase: string;
  cause: string;
  p50_share: number;
  p99_share: number;
}

export interface CodeLine {
  line: number;
  text: string;
}

export interface Diff {
  version: number;
  a: DiffSide;
  b: DiffSide;
  endpoints: DiffEndpoint[];
  findings: DiffFinding[];
  slos?: SLOPair[];
  measures: DiffMeasure[];
  frames: DiffFrame[];
  unexercised: DiffMeasure[];
  unseen_code: DiffFrame[];
}

export interface DiffEndpoint {
  name: string;
  a: DiffLatency | null;
  b: DiffLatency | null;
  p50_noise_ns: Ns;
  p99_noise_ns: Ns;
  predicted?: DiffPrediction;
}

export interface DiffFinding {
  id: string;
  endpoint: string;
  change: string;
  place_a?: string;
  place_b?: string;
  impact_a?: Impact;
  impact_b?: Impact;
  missing?: string;
}

export interface DiffFlameRow {
  name: string;
  function: string;
  kind: string;
  file?: string;
  line?: number;
  module?: string;
  code?: CodeLine[];
  in?: string;
  a_ns: Ns;
  b_ns: Ns;
  rows?: DiffFlameRow[];
}

export interface DiffFlames {
  endpoint: string;
  requests_a: number;
  requests_b: number;
  a_ns: Ns;
  b_ns: Ns;
  rows: DiffFlameRow[];
}

export interface DiffFrame {
  function: string;
  under_a: number;
  under_b: number;
  self_a: number;
  self_b: number;
  own?: boolean;
}

export interface DiffLatency {
  count: number;
  p50_ns: Ns;
  p99_ns: Ns;
}

export interface DiffMeasure {
  group: string;
  what: string;
  unit: string;
  a: number | null;
  b: number | null;
}

export interface DiffPrediction {
  p50_saving_ns: Ns;
  p99_saving_ns: Ns;
  lower_bound?: boolean;
}

export interface DiffSide {
  program: string;
  processes: number;
  seen_ns: Ns;
  cpu_ns: Ns;
  samples: number;
  requests: number;
  excerpt?: Excerpt;
}

export interface Dominant {
  id: string;
  place: string;
  endpoint: string;
  mean_share: number;
  slow_share: number;
  steady: boolean;
  with?: string[];
}

export interface Dump {
  version: number;
  at_ns: Ns;
  wall_ns?: number;
  chosen: string;
  counts: DumpCounts;
  blockers: Blocker[];
  threads: DumpThread[];
}

export interface DumpCall {
  id: number;
  peer: string;
  operation?: string;
  phase: string;
}

export interface DumpCounts {
  threads: number;
  running: number;
  runnable: number;
  blocked: number;
  waiting: number;
  idle: number;
  unknown: number;
}

export interface DumpHolder {
  tid: number;
  name: string;
  had_ns?: Ns;
  basis: string;
}

export interface DumpThread {
  pid: number;
  tid: number;
  name: string;
  state: string;
  cause: string;
  for_ns: Ns;
  for_at_least?: boolean;
  syscall?: string;
  request?: number;
  endpoint?: string;
  requests?: number;
  call?: DumpCall;
  wait?: DumpWait;
  stack: Frame[];
  stack_seen: StackSeen;
  blocks: number;
}

export interface DumpWait {
  cause: string;
  quality: string;
  rule: string;
  for?: string;
  holder?: DumpHolder;
}

export interface Endpoint {
  name: string;
  count: number;
  per_second: number;
  failed?: Answered[];
  status_unknown?: number;
  mean_ns: Ns;
  p50_ns: Ns;
  p90_ns: Ns;
  p99_ns: Ns;
  max_ns: Ns;
  causes: CauseRow[];
  unaccounted: Pair;
  unexplained?: Open[];
  ordinary_mean_ns: Ns;
  slow_mean_ns: Ns;
  typical_request: number;
  slowest_request: number;
}

export interface Entered {
  count: number;
  requests: number;
  stacks: number;
  p50: Bracket;
  p99: Bracket;
  max: Bracket;
}

export interface Evidence {
  what: string;
  value: number;
  unit: string;
  bound: number | null;
  requests?: number[];
}

export interface Excerpt {
  windows: number;
  seconds: number;
  requests: number;
  of_requests: number;
}

export interface Finding {
  id: string;
  title: string;
  endpoint: string;
  place: string;
  impact: Impact;
  evidence: Evidence[];
  fix: string;
  next?: string;
  also?: string[];
  what_if?: WhatIf[];
  when_ns?: Ns[];
  why?: string;
  decide?: string;
  explained_by?: string;
}

export interface Flame {
  total_ns: Ns;
  samples: number;
  rows: FlameRow[];
}

export interface FlameRow {
  name: string;
  function: string;
  kind: string;
  file?: string;
  line?: number;
  module?: string;
  code?: CodeLine[];
  in?: string;
  total_ns: Ns;
  self_ns: Ns;
  causes?: Record<string, Ns>;
  stacks: number;
  rows?: FlameRow[];
}

export interface Flames {
  version: number;
  endpoint: string;
  program?: string;
  requests: number;
  total_ns: Ns;
  unaccounted_ns: Ns;
  on_cpu: Flame;
  waiting: Flame;
}

export interface Frame {
  name: string;
  function: string;
  kind: string;
  file?: string;
  line?: number;
  module?: string;
  code?: CodeLine[];
  in?: string;
}

export interface Impact {
  mean_saving_ns: Ns;
  mean_low_ns: Ns;
  mean_high_ns: Ns;
  p50_saving_ns: Ns;
  p50_low_ns: Ns;
  p50_high_ns: Ns;
  p99_saving_ns: Ns;
  p99_low_ns: Ns;
  p99_high_ns: Ns;
  share: number;
  lower_bound?: boolean;
  unsure?: boolean;
  mean_of?: Saved[];
}

export interface NewConnections {
  first: number;
  busy: number;
  idle: number;
  closed_by_us: number;
  closed_by_peer: number;
  closed: number;
}

export interface Open {
  cause: string;
  p50_share: number;
  p99_share: number;
  place?: Frame;
}

export interface Pair {
  p50_share: number;
  p99_share: number;
}

export interface Phases {
  queue: Ns;
  dns: Ns;
  connect: Ns;
  tls: Ns;
  send: Ns;
  remote: Ns;
  "pick-up": Ns;
  receive: Ns;
}

export interface Process {
  pid: number;
  name: string;
  exe: string;
  runtime: string;
  build: string;
  version: string;
  born_ns: Ns | null;
  ended_ns: Ns | null;
  requests: number;
}

export interface Recording {
  start_wall_ns?: number;
  seconds: number;
  events: number;
  lost: number;
  overhead_cpu_share: number;
  overhead_cpu_share_in_second_half?: number;
  stolen_share?: number;
  truncated?: boolean;
  of?: string;
  windows?: Windows;
  excerpt?: Excerpt;
  wait_stacks?: WaitStacks;
}

export interface Refuted {
  id: string;
  why: string;
  time_share: number;
  evidence: Evidence[];
}

export interface Remedy {
  id: string;
  place: string;
  value_ns: Ns;
  met: boolean;
  lead?: boolean;
}

export interface Replayed {
  was_ns: Ns;
  is_ns: Ns;
}

export interface Report {
  version: number;
  recording: Recording;
  requests: Requests;
  endpoints: Endpoint[];
  processes: Process[];
  calls: CallGroup[];
  findings: Finding[];
  leads: Finding[];
  minor: Finding[];
  refuted: Refuted[];
  undecided: Undecided[];
  slos?: SLO[];
  flames?: Flames[];
  dominant: Dominant[];
}

export interface RequestRow {
  name: string;
  function: string;
  kind: string;
  file?: string;
  line?: number;
  module?: string;
  code?: CodeLine[];
  in?: string;
  time: TreeTime;
  rows?: RequestRow[];
}

export interface RequestTree {
  samples: number;
  rows: RequestRow[];
}

export interface Requests {
  count: number;
  per_second: number;
  failed?: Answered[];
  status_unknown?: number;
  cut: number;
  early?: number;
  unwatched?: number;
  excluded?: number;
  unwatched_p50_ns?: Ns;
  associated_share: number;
  inferred_share: number;
  mean_ns: Ns;
  p50_ns: Ns;
  p90_ns: Ns;
  p99_ns: Ns;
  max_ns: Ns;
  unaccounted_share: number;
  unknown_share: number;
  not_connected?: Unconnected[];
}

export interface SLO {
  text: string;
  endpoint: string;
  percentile: number;
  bound_ns: Ns;
  per_ns: Ns;
  broken: number;
  worst: number | null;
  windows: SLOWindow[];
  remedies: Remedy[];
}

export interface SLOPair {
  text: string;
  a: SLO;
  b: SLO;
}

export interface SLOWindow {
  from_ns: Ns;
  requests: number;
  value_ns: Ns;
  met: boolean;
}

export interface Saved {
  phase?: string;
  cause?: string;
  ns: Ns;
}

export interface ShownCall {
  id: number;
  peer: string;
  address: string;
  local?: string;
  proxy?: string;
  tunnel_ns?: Ns;
  ordinal: number;
  operation: string;
  status: number;
  new_connection: boolean;
  associated: string;
  certainty: string;
  from_ns: Ns;
  to_ns: Ns;
  phases: Phases;
  cut?: boolean;
}

export interface ShownConnection {
  peer: string;
  ordinal: number;
}

export interface ShownDone {
  cause: string;
  took_ns: Ns;
  peer?: string;
  for?: string;
  place?: Frame;
}

export interface ShownHolder {
  strand: string;
  from_ns: Ns;
  to_ns: Ns;
  basis: string;
  doing: ShownDone[];
}

export interface ShownPart {
  strand: string;
  from_ns: Ns;
  to_ns: Ns;
}

export interface ShownSegment {
  from_ns: Ns;
  to_ns: Ns;
  phase: string;
  cause: string;
  quality: string;
  call?: number;
  strand?: string;
  blocker?: number;
  wait?: ShownWait;
}

export interface ShownWait {
  for?: string;
  rule: string;
  from_ns: Ns;
  to_ns: Ns;
  place?: Frame;
  place_borrowed?: boolean;
  holders?: ShownHolder[];
}

export interface StackSeen {
  how: string;
  age_ns: Ns;
}

export interface Tree {
  version: number;
  endpoint: string;
  ordinary: TreeTotal;
  slow: TreeTotal;
  rows: TreeRow[];
}

export interface TreeRow {
  name: string;
  function: string;
  kind: string;
  file?: string;
  line?: number;
  module?: string;
  code?: CodeLine[];
  in?: string;
  ordinary: TreeTime;
  slow: TreeTime;
  rows?: TreeRow[];
}

export interface TreeTime {
  total_ns: Ns;
  cpu_ns: Ns;
  lock_ns: Ns;
  gc_ns: Ns;
  io_ns: Ns;
  remote_ns: Ns;
  other_ns: Ns;
  causes: Record<string, Ns>;
  stacks: number;
  borrowed_stacks: number;
}

export interface TreeTotal {
  requests: number;
  total_ns: Ns;
  unaccounted_ns: Ns;
  samples: number;
}

export interface Unconnected {
  peer: string;
  address: string;
  count: number;
  of: number;
  refused: number;
  reset: number;
  given_up: number;
  time_share: number;
  then?: string;
}

export interface Undecided {
  id: string;
  missing: string;
  evidence?: Evidence[];
}

export interface Under {
  version: number;
  query: string;
  functions: string[];
  endpoints: UnderEndpoint[];
  requests?: UnderRequest[];
}

export interface UnderCall {
  peer: string;
  operation: string;
  count: number;
  total_ns: Ns;
}

export interface UnderEndpoint {
  name: string;
  all: UnderSet;
  ordinary: UnderSet;
  slow: UnderSet;
}

export interface UnderEntry {
  from_ns: Ns;
  to_ns: Ns;
  strand: string;
  waited_ns: Ns;
  stacks: number;
  most_ns: Ns;
}

export interface UnderRequest {
  id: number;
  endpoint: string;
  requests: number;
  total_ns: Ns;
  under_ns: Ns;
  low_ns: Ns;
  high_ns: Ns;
  causes: UnderTime[];
  unseen_ns: Ns;
  calls: UnderCall[];
  calls_without_stack: number;
  entered: Entered;
  entries: UnderEntry[];
}

export interface UnderSet {
  requests: number;
  total_ns: Ns;
  under_ns: Ns;
  low_ns: Ns;
  high_ns: Ns;
  causes: UnderTime[];
  unseen_ns: Ns;
  calls: UnderCall[];
  calls_without_stack: number;
  entered: Entered;
}

export interface UnderTime {
  cause: string;
  took_ns: Ns;
  low_ns: Ns;
  high_ns: Ns;
  quality: string;
  samples?: number;
  of?: number;
}

export interface WaitStacks {
  own: number;
  borrowed: number;
}

export interface Waiters {
  for: string;
  cause: string;
  longest_ns: Ns;
  tids: number[];
  names: string[];
  behind: Blocker[];
}

export interface WebCalled {
  peer: string;
  operation: string;
}

export interface WebCause {
  name: string;
  light: string;
  dark: string;
  means: string;
}

export interface WebCells {
  step_ns: Ns;
  columns: number;
  count: number;
  endpoint: Column;
  x: Column;
  y: Column;
  requests: Column;
  took: Column;
}

export interface WebColumns {
  id: Column;
  start: Column;
  duration: Column;
  endpoint: Column;
  cause: Column;
  generation: Column;
  status: Column;
}

export interface WebDiff {
  version: number;
  kind: string;
  diff: Diff | null;
  a: WebPage | null;
  b: WebPage | null;
  flames: DiffFlames[];
}

export interface WebKnown {
  threads: WebTexts;
  clients: WebTexts;
  calls: WebCalled[];
  call_sets: Column;
  call_set: Column;
  made: Column;
  spent: WebSpent[];
  sets: Column;
  set: Column;
  took: Column;
}

export interface WebLane {
  pid: number;
  tid: number;
  name: string;
  runs: number;
  data: Column;
}

export interface WebLanes {
  from_ns: Ns;
  to_ns: Ns;
  chosen: string;
  columns: number;
  lanes: WebLane[];
  more: number;
}

export interface WebLatency {
  count: number;
  endpoints: string[];
  columns: WebColumns;
  known: WebKnown | null;
  lines: WebLines;
  endpoint_lines: WebLines[];
  cells: WebCells;
  windows: WebSpan[];
  losses: WebLoss[];
  least_ns: Ns;
  most_ns: Ns;
}

export interface WebLines {
  step_ns: Ns;
  count: number[];
  p50_ns: number[];
  p99_ns: number[];
  max_ns: number[];
}

export interface WebLoss {
  from_ns: Ns;
  to_ns: Ns;
  hook: string;
  count: number;
}

export interface WebPage {
  version: number;
  kind: string;
  name: string;
  live: boolean;
  wall_ns: number;
  start_ns: number;
  span_ns: Ns;
  report: Report | null;
  seen: WebSeen;
  latency: WebLatency | null;
  requests: WebRequest[];
  frames: Frame[];
  flames: Flames[];
  trees: Tree[];
  under: Under[];
  dumps: Dump[];
  lanes: WebLanes[];
  causes: WebCause[];
  phases: WebPhase[];
  rules: Record<string, string>;
}

export interface WebPhase {
  name: string;
  means: string;
}

export interface WebPromise {
  text: string;
  mood: string;
}

export interface WebRequest {
  id: number;
  endpoint: string;
  connection: ShownConnection;
  status: number;
  start_ns: Ns;
  start_wall_ns?: number;
  duration_ns: Ns;
  segments: ShownSegment[];
  unaccounted_ns: Ns;
  calls: ShownCall[];
  parts?: ShownPart[];
  cut?: boolean;
  lossy?: boolean;
  excluded?: string;
  stacks: WebStack[];
  tree?: RequestTree;
}

export interface WebSeen {
  processes: string[];
  silent: number;
  protocols: string[];
  missing: string[];
  calls: number;
  calls_without_request: number;
  footer: string;
  outbound_connections: number;
  unrecorded: string;
  where: string;
  verdict: string;
  mood: string;
  first_lead: number;
  promises: WebPromise[];
}

export interface WebSpan {
  from_ns: Ns;
  to_ns: Ns;
}

export interface WebSpent {
  phase: number;
  cause: number;
}

export interface WebStack {
  segment: number;
  how: string;
  frames: number[];
}

export interface WebTexts {
  count: number;
  prefix: string[];
  text: Column;
  number: Column;
  request: Column;
}

export interface WebTold {
  request: WebRequest | null;
  frames: Frame[];
}

export interface WebWhere {
  count: number;
  ids: Column;
}

export interface WhatIf {
  server: string;
  change: string;
  words: string;
  mean?: Replayed;
  p50?: Replayed;
  p99?: Replayed;
}

export interface Windows {
  count: number;
  seconds: number;
}
