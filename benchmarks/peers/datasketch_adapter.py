"""datasketch: a MinHash a document, MinHashLSH with the bands it chooses itself, the estimate as the test."""

from common import clean, job, read_texts, shingles, write_outcome
from datasketch import MinHash, MinHashLSH  # type: ignore[import-not-found]  # lives in the peer's own environment


def main() -> None:
    source, out, ngram, threshold, num_perm = job()
    signatures = []
    for text in read_texts(source):
        signature = MinHash(num_perm=num_perm)
        signature.update_batch([shingle.encode() for shingle in shingles(clean(text), ngram)])
        signatures.append(signature)
    lsh = MinHashLSH(threshold=threshold, num_perm=num_perm)
    pairs: list[tuple[int, int]] = []
    for b, signature in enumerate(signatures):
        pairs += [(a, b) for a in lsh.query(signature) if signature.jaccard(signatures[a]) >= threshold]
        lsh.insert(b, signature)
    write_outcome(out, len(signatures), pairs)


if __name__ == "__main__":
    main()
