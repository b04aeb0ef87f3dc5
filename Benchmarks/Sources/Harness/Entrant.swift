/// Someone who takes part in a round: a contender at a workload.
public struct Entrant {
  /// Which entrant another is compared with.
  public struct Key: Hashable, Sendable {
    public let workload: Workload
    public let contender: Contender
    /// How many rows the store holds, where a workload is measured at several sizes.
    public let rows: Int?
    /// How many threads work, where a workload is measured with several numbers of them.
    public let threads: Int?

    public init(
      _ workload: Workload,
      _ contender: Contender,
      rows: Int? = nil,
      threads: Int? = nil
    ) {
      self.threads = threads
      self.workload = workload
      self.contender = contender
      self.rows = rows
    }

    /// The workload's name in results: with the numbers of rows and of threads, where there are any.
    public var name: String {
      workload.rawValue + (rows.map { "-\($0)" } ?? "") + (threads.map { "-threads-\($0)" } ?? "")
    }
  }

  public let key: Key
  /// How the contender is set up, in words.
  public let settings: String
  /// The entrant of the same rounds whose figures are the measure for this one's.
  public let reference: Key?
  public let targets: [Target]
  /// Does one repetition; what it prepares and checks around the work is its own affair.
  let run: () throws -> Sample
  /// Says once, when all rounds are over, what they left behind.
  let afterwards: (() throws -> Sample)?

  public init(
    _ workload: Workload,
    _ contender: Contender,
    settings: String,
    comparedWith reference: Key? = nil,
    targets: [Target] = [],
    rows: Int? = nil,
    threads: Int? = nil,
    afterwards: (() throws -> Sample)? = nil,
    run: @escaping () throws -> Sample
  ) {
    key = Key(workload, contender, rows: rows, threads: threads)
    self.settings = settings
    self.reference = reference
    self.targets = targets
    self.run = run
    self.afterwards = afterwards
  }
}
