/// The event that a commit waits for; the same for all contenders of a workload.
public enum Durability: String, Codable, Sendable {
  /// On disk at return.
  case full
  /// The kernel has it at return: the end of the process loses nothing, a power cut may.
  case relaxed
}

extension Workload {
  /// The durability of the commits that the workload times or has timed before; `nil` if there are none.
  public var durability: Durability? {
    switch self {
    case .durable1, .durable10, .durable100, .durable10000, .durable1Threads4, .durable1Threads8,
      .durable1Threads16, .durableUpdate1, .durableUpdate100, .ycsbADurable, .ycsbBDurable,
      .ycsbDDurable, .ycsbFDurable, .writers1Durable, .writers2Durable, .writers4Durable,
      .writerAloneDurable:
      .full
    case .relaxed1, .relaxed100, .relaxed10000, .update1, .update100, .flightsImport, .jsonSave,
      .appendTo10, .appendTo100000, .readBesideWriter, .scaleInsert, .scaleSize, .sizeUpdated,
      .blobWrite, .blobUpdate, .blobDelete, .modelsLoad, .size,
      .flightsSize, .findOrCreate, .moveChildren, .nullify, .cascade,
      .ycsbA, .ycsbB, .ycsbD, .ycsbE, .ycsbF, .ycsbAUniform, .largerThanMemoryLoad,
      .largerThanMemoryMixed, .overwriteSteady, .stores1000, .stores10000, .writers1, .writers2,
      .writers4, .writerAlone, .handOver,
      .heardByAnother, .shownByAnother, .shownByReader:
      .relaxed
    default: nil
    }
  }
}

extension Optional where Wrapped == Durability {
  /// The durability's name; a dash if nothing is committed.
  public var name: String { self?.rawValue ?? "–" }
}
