package main

import (
	"bytes"
	"errors"
	"fmt"
)

// errClass is a class file that is none.
var errClass = errors.New("not a class file")

// className reads the name that a class file gives itself, as in shop/Prices$Store. It need not be that of
// the file, and a decompiler goes by it.
func className(file []byte) (string, error) {
	const tagUTF8, tagClass = 1, 7
	if len(file) < 10 || !bytes.HasPrefix(file, []byte{0xca, 0xfe, 0xba, 0xbe}) {
		return "", errClass
	}
	count, rest := twoBytes(file[8:]), file[10:]
	texts, classes := map[int]string{}, map[int]int{}
	for i := 1; i < count; i++ {
		if len(rest) < 3 {
			return "", errClass
		}
		tag, size := rest[0], 0
		switch tag {
		case tagUTF8:
			size = 3 + twoBytes(rest[1:])
			if len(rest) < size {
				return "", errClass
			}
			texts[i] = string(rest[3:size])
		case tagClass:
			size, classes[i] = 3, twoBytes(rest[1:])
		case 8, 16, 19, 20: // a string, a type of a method, a module, a package
			size = 3
		case 15: // a handle of a method
			size = 4
		case 3, 4, 9, 10, 11, 12, 17, 18: // numbers of 4 bytes, members, their names, what is made at run time
			size = 5
		case 5, 6: // numbers of 8 bytes take two places
			size = 9
			i++
		default:
			return "", fmt.Errorf("%w: constant of kind %d", errClass, tag)
		}
		if len(rest) < size {
			return "", errClass
		}
		rest = rest[size:]
	}
	if len(rest) < 4 {
		return "", errClass
	}
	return texts[classes[twoBytes(rest[2:])]], nil
}

func twoBytes(b []byte) int { return int(b[0])<<8 | int(b[1]) }
