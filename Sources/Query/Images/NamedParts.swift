import DarkroomRequests

extension ImageQueryDraft {
    /// Adds the named images and the layers to a query.
    func finishParts(_ query: inout ImageQuery, _ limits: QueryLimits) throws(InvalidParameter) {
        query.parts = try namedImages()
        let inSteps = try namesInSteps(query.recipe.steps, limits)
        let drawn = Set(markParts.keys).subtracting(inSteps)
        if let both = drawn.intersection(textParts.keys).sorted().first {
            throw InvalidParameter(
                "text.\(both)", "An image and a text of a request must have different names, and both are '\(both)'.")
        }
        try requireLayers(of: drawn.union(textParts.keys))
        query.recipe.layers = []
        for name in layers ?? drawn.sorted() + textParts.keys.sorted() {
            if let part = markParts[name] {
                query.recipe.layers.append(try part.layer(name, pixelRatio, limits))
            } else if let part = textParts[name] {
                query.recipe.layers.append(try part.layer(name, pixelRatio, limits))
            }
        }
    }

    /// Reads the parts of a query into this draft.
    mutating func writeParts(_ limits: QueryLimits) {
        for image in query.parts {
            var part = MarkPartDraft(limits)
            (part.source, part.fallback) = (image.source, image.fallback)
            part.failure = image.mayBeLeftOut ? .omit : .fail
            if let layer = query.recipe.layers.first(where: { $0.name == image.name }) { part.write(layer, limits) }
            markParts[image.name] = part
        }
        for layer in query.recipe.layers {
            if case .text(let box) = layer.content { textParts[layer.name] = TextPartDraft(writing: layer, box) }
        }
        let names = query.recipe.layers.map(\.name)
        let usual = names.filter { textParts[$0] == nil }.sorted() + textParts.keys.sorted()
        layers = names == usual ? nil : names
    }

    private func namedImages() throws(InvalidParameter) -> [NamedImage] {
        var images: [NamedImage] = []
        for (name, part) in markParts.sorted(by: { $0.key < $1.key }) {
            guard let source = part.source else {
                throw InvalidParameter(
                    "mark.\(name)",
                    "Parameter 'mark.\(name)' is missing: the URL of the image, or the name of a mark, that other "
                        + "parameters place.")
            }
            images.append(
                NamedImage(name, source, fallback: part.fallback, mayBeLeftOut: part.failure == .omit))
        }
        let sources = Set(images.flatMap { [$0.source, $0.fallback].compactMap(\.self) })
        try require(
            sources.count <= PartImage.maxSources, images.last?.parameter ?? "mark",
            "The named images of a request must have at most \(PartImage.maxSources) different URLs, got "
                + "\(sources.count).")
        return images
    }

    /// The images that a step draws. How they are drawn is up to the step.
    private func namesInSteps(_ steps: [EffectStep], _ limits: QueryLimits) throws(InvalidParameter) -> Set<String> {
        let names = Set(steps.compactMap(\.drawnImage)).subtracting([""])
        for name in names.sorted() {
            guard let part = markParts[name] else {
                throw InvalidParameter("steps", "Step 'mark' with the image '\(name)' requires 'mark.\(name)'.")
            }
            if let parameter = part.firstChange(limits) {
                throw InvalidParameter(
                    "mark.\(name).\(parameter)",
                    "Parameter 'mark.\(name).\(parameter)' does not apply to an image that a step draws.")
            }
        }
        return names
    }

    private func requireLayers(of drawn: Set<String>) throws(InvalidParameter) {
        guard let layers else { return }
        if let other = layers.first(where: { !drawn.contains($0) }) {
            throw InvalidParameter(
                "layers", "Parameter 'layers' names '\(other)', which requires 'mark.\(other)' or 'text.\(other)'.")
        }
        if let missing = drawn.subtracting(layers).sorted().first {
            throw InvalidParameter(
                "layers", "Parameter 'layers' must name every named image and text, and '\(missing)' is missing.")
        }
    }
}

extension ValueFormat where Value == [String] {
    static var layerNames: ValueFormat {
        ValueFormat(
            pattern: "^[a-z0-9-]{1,32}(,[a-z0-9-]{1,32}){0,\(Layer.maxCount - 1)}$",
            expected: "names of images and texts, each once, separated by commas", write: { $0.joined(separator: ",") },
            read: { text in
                let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                guard names.count <= Layer.maxCount, names.allSatisfy(Layer.isName), Set(names).count == names.count
                else { return nil }
                return names
            })
    }
}
