extension Array {
  /// The elements in runs of `size`, the last one as long as what is left.
  func batches(of size: Int) -> some Sequence<ArraySlice<Element>> {
    sequence(state: self[...]) { rest in
      let batch = rest.prefix(size)
      rest = rest.dropFirst(size)
      return batch.isEmpty ? nil : batch
    }
  }
}
