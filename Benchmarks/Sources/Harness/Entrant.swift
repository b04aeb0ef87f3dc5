/// A participant in a round: a contender at a workload.
public struct Entrant {
  /// The identity of an entrant, by which another is compared with it.
  public struct Key: Hashable, Sendable {
    public let workload: Workload
    public let contender: Contender
    /// Number of rows that the store holds, if a workload is measured at several sizes.
    public let rows: Int?
    /// Number of threads, if a workload is measured with several numbers of them.
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

    /// The workload's name in results: with the numbers of rows and of threads, if there are any.
    public var name: String {
      workload.rawValue + (rows.map { "-\($0)" } ?? "") + (threads.map { "-threads-\($0)" } ?? "")
    }
  }

  public let key: Key
  /// The settings of the contender, in words.
  public let settings: String
  /// The entrant of the same rounds whose figures are the measure for this one's.
  public let reference: Key?
  public let targets: [Target]
  /// Does one repetition; its preparation and checks around the work are not measured.
  let run: () throws -> Sample
  /// Returns once, when all rounds are over, the figures of what they left behind.
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
