/// Something the engine promises and did not keep, with what it takes to see it again.
package struct Violation: Error, Sendable, Hashable, CustomStringConvertible {
  package var area: Area
  package var seed: UInt64
  /// Where in the workload, and what the disk did.
  package var place: String
  /// What was expected and what was found.
  package var problem: String

  package var description: String {
    "\(area.rawValue), seed \(seed), \(place): \(problem)"
  }
}

/// One way to harm a store.
package enum Area: String, Sendable, Hashable, CaseIterable {
  /// The power fails between any two calls, also during the recovery from such a failure.
  case powercut
  /// Any of what follows, while the log is packed again and again.
  case compaction
  /// Calls fail, once or for ever, and disks lie about synchronizing.
  case errors
  /// The device is full.
  case space
  /// Files are damaged where they lie.
  case rot
  /// Files are changed, and their checksums made right again.
  case forgery
  /// Large values stand in files of their own, and any of the above happens.
  case blobs
  /// Nothing is harmed: stores with different knobs are to give the same answers.
  case knobs
  /// Stores are opened, closed, published, trimmed, migrated, shared and compacted, in every order.
  case lifecycle
}

extension Area {
  /// Runs one seed.
  package func run(seed: UInt64) -> CampaignResult {
    switch self {
    case .powercut: PowerCutCampaign.run(seed: seed)
    case .compaction: CompactionCampaign.run(seed: seed)
    case .errors: ErrorCampaign.run(seed: seed)
    case .space: SpaceCampaign.run(seed: seed)
    case .rot: RotCampaign.run(seed: seed)
    case .forgery: ForgeryCampaign.run(seed: seed)
    case .blobs: BlobCampaign.run(seed: seed)
    case .knobs: KnobCampaign.run(seed: seed)
    case .lifecycle: LifecycleCampaign.run(seed: seed)
    }
  }
}
